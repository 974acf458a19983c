"""``bddtorque verify``: prove a file again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import write_whole
from bddtorque.base.record import OptionRecord, option
from bddtorque.cli.console import show, write_json
from bddtorque.cli.options import DaskOption, FileArgument, JsonOption, WorkersOption, check_outputs, cluster
from bddtorque.cli.progress import ShownProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bddtorque.compiler.verify import Check
    from bddtorque.independent import Finding


STEPS = {"planning": 3.0, "verifying": 10.0, "proving": 1.0}
"""Steps that are done again, and about how long each takes."""


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(OptionRecord):
    """Who proves instead of the compiler, and what Gappa's proof is written to."""

    independent: bool = option(False, None, "Use the checker that shares no code with the compiler instead.")
    gappa: bool = option(False, None, "Have Gappa prove the bound from the plan, wire by wire, instead.")
    gappa_script: Path | None = option(
        None, "FILE", "With --gappa: write all lemmas as a shell script that proves them again."
    )
    coq: Path | None = option(None, "FILE", "With --gappa: write the whole proof as a theorem for Coq to check.")


def verify_command(
    file: FileArgument,
    options: VerifyOptions,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove the bound again from the file, and check every table, diagram and digest.

    Exit code 1 if a check fails.

    Example: bddtorque verify planar2r.bdt
    """
    if not file.is_file():  # nothing to find wanting: bad use
        raise BddTorqueError(f"FILE must be a .bdt file, but {_what_instead(file)}")
    independent, gappa, texts = options.independent, options.gappa, (options.gappa_script, options.coq)
    if independent and (workers is not None or dask is not None):
        raise BddTorqueError("--workers and --dask cannot be given with --independent")
    if gappa and (independent or workers is not None or dask is not None):
        raise BddTorqueError("--independent, --workers and --dask cannot be given with --gappa")
    outputs = dict(zip(("--gappa-script", "--coq"), texts, strict=True))
    for flag, path in outputs.items():
        if path is not None and not gappa:
            raise BddTorqueError(f"{flag} is only valid with --gappa")
    checks: Sequence[Check | Finding]
    more: dict[str, Any] = {}
    verified, files = "verified", dict[Path, str]()
    if gappa:
        from bddtorque.assurance.gappa_proof import prove_with_gappa

        check_outputs(outputs, [file])
        with ShownProgress("verify", {"": 1.0}) as progress:
            proof = prove_with_gappa(file, progress, options.coq is not None)
        checks = proof.checks
        pairs = zip(texts, (proof.script, proof.theorem), strict=True)
        files = {path: text for path, text in pairs if path is not None}
        more["gappa"] = {
            "lemmas": proof.lemmas,
            "outputs": [asdict(bound) for bound in proof.bounds],
            "unchecked": list(proof.unchecked),
            "written": [str(path) for path, text in files.items() if text],
        }
        verified = "bounds proved by Gappa"
        if proof.unchecked:
            verified += f" ({', '.join(proof.unchecked)}: `bddtorque verify {file}`)"
    elif independent:
        from bddtorque.independent import check_file

        with ShownProgress("verify, independently") as progress:

            def tell(finding: Finding) -> None:  # at once, but for a terminal with a bar
                progress.advance(finding.name, 0.0, False)
                if not (as_json or progress.drawn):
                    _show(finding)

            checks = check_file(file, tell)
    else:
        from bddtorque.compiler.verify import verify

        with cluster(dask) as executor, ShownProgress("verify", STEPS) as progress:
            checks = verify(file, workers=workers, progress=progress, executor=executor)
    passed = all(check.passed for check in checks)
    if as_json:
        plain = [_plain(check) for check in checks]
        write_json({"file": str(file), "verified": passed, "independent": independent, "checks": plain, **more})
    else:
        for check in () if independent and not progress.drawn else checks:  # the others were shown as they came
            _show(check)
        for path in (path for path, text in files.items() if not text):
            show(f"{path}: not written, as the proof failed")
        show(f"{file}: {verified if passed else 'NOT verified'}")
    for path, text in files.items():  # last, so that the verdict is not lost if a disk is full
        if text:
            write_whole(path, text.encode())
    if not passed:
        raise typer.Exit(1)


def _what_instead(file: Path) -> str:
    """Say what stands in the place of a regular file."""
    if file.is_dir():
        return f"{file} is a folder"
    return f"{file} is not a regular file" if file.exists() else f"there is no such file: {file}"


def _show(check: Check | Finding) -> None:
    for text in (check.detail, *getattr(check, "rows", ())):
        show(f"{'ok  ' if check.passed else 'FAIL'}  {check.name:12}  {text}", hang=20)


def _plain(check: Check | Finding) -> dict[str, Any]:
    """Return a check for programs; rows, one for each output, only where there are some."""
    rows = list(getattr(check, "rows", ()))
    return {"name": check.name, "passed": check.passed, "detail": check.detail, **({"rows": rows} if rows else {})}
