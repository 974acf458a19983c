"""``bddtorque verify``: prove a file again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bddtorque.cli.console import ShownProgress, output, write_json
from bddtorque.cli.options import DaskOption, JsonOption, WorkersOption, cluster
from bddtorque.errors import BddTorqueError


def verify_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A compiled model, .bdt.", show_default=False)],
    workers: WorkersOption = None,
    dask: DaskOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove the bound again from the file alone and check every table, diagram and digest.

    Exit code 1 if anything is not as it was compiled.
    """
    from bddtorque.verify import verify  # noqa: PLC0415

    if not file.is_file():  # nothing to find wanting: bad use
        raise BddTorqueError(f"{file}: a .bdt file required, there is no such file")
    with cluster(dask) as executor:
        checks = verify(file, workers=workers, progress=ShownProgress(), executor=executor)
    passed = all(check.passed for check in checks)
    if as_json:
        plain = [{"name": check.name, "passed": check.passed, "detail": check.detail} for check in checks]
        write_json({"file": str(file), "verified": passed, "checks": plain})
    else:
        console = output()
        for check in checks:
            console.print(f"{'ok  ' if check.passed else 'FAIL'}  {check.name:12}  {check.detail}", soft_wrap=True)
        console.print(f"{file}: {'verified' if passed else 'NOT verified'}", soft_wrap=True)
    if not passed:
        raise typer.Exit(1)
