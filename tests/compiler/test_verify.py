"""A file that `compile` wrote proves again, whatever was compiled; and the checks say what they found."""

from pathlib import Path

import pytest
from bdt_files import saved
from compiled import compiled

import bddtorque as bt
from bddtorque.base.workers import Workers
from bddtorque.compiler.verify import Check, check_block, verify

NAMES = ["file", "bytes", "plan", "tables", "diagrams", "forms", "certificate"]


@pytest.mark.parametrize(
    ("robot", "options"),
    [
        ("planar2r", {"bits": 2}),
        ("planar2r", {"bits": 4}),
        ("planar2r", {"bits": 8}),
        ("planar2r", {"bits": (5, 6), "input_bits": 7}),
        ("planar2r", {"bits": 4, "source": "recursive"}),
        ("planar2r", {"bits": 6, "source": "recursive", "products": "partial"}),
        ("planar2r", {"bits": 4, "accuracy": "paper"}),
        ("planar2r", {"bits": 6, "accuracy": 0.7}),
        ("planar2r", {"bits": 6, "torque": 20}),  # too small a range: the witness of saturation is found again
        ("planar3r_a", {"bits": 8}),
        ("scara", {"bits": 8}),
        ("scara", {"bits": 6, "source": "recursive"}),
    ],
    ids=str,
)
def test_every_check_holds(robot: str, options: dict) -> None:
    checks = verify(saved(robot, **options), workers=1)
    assert [(check.name, check.passed) for check in checks] == [(name, True) for name in NAMES], checks
    bounds = checks[-1].detail.removeprefix("proved again: ").split(", ")
    wanted = compiled(robot, **options).certificate.torques
    assert bounds == [f"{torque.joint} {torque.bound:.4f}" for torque in wanted]


def test_a_file_and_its_path(tmp_path: Path) -> None:
    path = tmp_path / "arm.bdt"
    compiled(bits=2).save(path)
    checks = verify(path, workers=1)
    assert all(check.passed for check in checks)
    assert checks[0] == Check("file", True, f"digest {compiled(bits=2).digest[:16]}, {len(saved(bits=2)):,} bytes")
    path.write_bytes(path.read_bytes()[:-1])
    (check,) = verify(path)
    assert check.name == "file" and not check.passed and check.detail.startswith(f"{path}: ")


def test_progress_is_told() -> None:
    told = []

    class Recording:
        def __getattr__(self, name: str):  # whatever it is told
            return lambda *arguments, **named: told.append((name, arguments))

    verify(saved(bits=2), workers=1, progress=Recording())
    assert len(told) >= len(compiled(bits=2).tables)


def test_workers_find_the_same() -> None:
    assert verify(saved(bits=2), workers=2) == verify(saved(bits=2), workers=1)
    with pytest.raises(bt.BddTorqueError, match="workers must be an integer of at least 1"):
        verify(saved(bits=2), workers=0)  # bad use, and no fault of the file


def test_the_compiler_is_not_asked_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are tabulated anew: a cache that holds wrong ones must not be able to confirm them."""
    monkeypatch.setattr("bddtorque.base.caching.cache_named", lambda: pytest.fail("a cache was opened"))
    assert all(check.passed for check in verify(saved(bits=2), workers=1))
    with Workers(1) as team:
        assert team.cache is None


def test_a_block_by_itself() -> None:
    model = compiled(bits=4)
    block, values, arrays = model.plan.blocks[0], model.tables[0].values.copy(), dict(model.diagrams[0].arrays())
    found = check_block(block, values, arrays, 2**30)
    assert (found["tables"], found["diagrams"], found["forms"]) == ("", "", "")
    values[7] += 1
    assert check_block(block, values, arrays, 2**30)["tables"] == f"entry 7 must be {values[7] - 1}, it is {values[7]}"
    arrays["high"] = arrays["high"].copy()
    arrays["high"][-1] ^= 1
    assert "128 of 256 differ" in check_block(block, model.tables[0].values, arrays, 2**30)["diagrams"]


def no_memory(*_: object) -> None:
    raise bt.BddTorqueError("memory: more\nrequired")


def test_too_little_memory_is_said_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bddtorque.compiler.verify.check_block", no_memory)
    checks = verify(saved(bits=2), workers=1)
    assert [check.name for check in checks if not check.passed] == ["proof"]
    assert "\n" not in checks[-1].detail
