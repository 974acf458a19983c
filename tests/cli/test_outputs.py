"""No command writes over what it reads."""

from pathlib import Path

import pytest
from compiled import arm

from bddtorque.cli import main

STATES = "q:shoulder,q:elbow,qd:shoulder,qd:elbow,qdd:shoulder,qdd:elbow\n0,0,0,0,0,0\n"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["sweep", "arm.bdt", "--states", "100", "--csv", "arm.bdt"], "model"),
        (["sweep", "arm.bdt", "--states", "100", "--csv", "link.csv"], "model"),
        (["sweep", "arm.bdt", "--trajectory", "s.csv", "--csv", "s.csv"], "trajectory"),
        (["eval", "arm.bdt", "s.csv", "-o", "./s.csv"], "states"),
        (["report", "arm.bdt", "-o", "arm.bdt"], "model"),
    ],
)
def test_inputs_stay_what_they_are(
    arguments: list[str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arm(4).save("arm.bdt")
    Path("s.csv").write_text(STATES)
    Path("link.csv").symlink_to("arm.bdt")
    before = Path("arm.bdt").read_bytes()
    assert main(arguments) == 2
    assert f": another file than the {what} required, it would be overwritten\n" in capsys.readouterr().err
    assert (Path("arm.bdt").read_bytes(), Path("s.csv").read_text()) == (before, STATES)
