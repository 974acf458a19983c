"""Archives that are no .bdt files, or pretend to be: refused in one line, without taking what they claim."""

import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from bdt_files import npy_of, saved, sha256, signed, taken_apart, written, zip_of
from test_altered_files import SMALL, refused

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify


@pytest.mark.parametrize(
    "data",
    [b"", b"P", b"PK\3\4", b"PK\3\4" + bytes(100), b"PK\5\6" + bytes(18), b"\x93NUMPY\1\0", b"{}", b"\x7fELF" * 100],
    ids=repr,
)
def test_what_is_no_archive(data: bytes) -> None:
    assert "not a .bdt file" in refused(data) or "damaged .bdt file" in refused(data)


@pytest.mark.parametrize("place", [-3, 100])
def test_damage_is_said_in_plain_words(place: int) -> None:
    data = bytearray(saved(**SMALL))
    data[place] ^= 255
    said = "an entry, or the list of entries at its end, is damaged or cut off"
    assert refused(bytes(data)).endswith(f"damaged .bdt file: {said}")


def test_other_archives() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w"):
        pass
    refused(buffer.getvalue())
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(5))
    assert "its first entry must be header.json" in refused(buffer.getvalue())
    assert "is not the JSON of a .bdt file" in refused(zip_of({"header.json": b"hello"}))
    assert "another format" in refused(zip_of({"header.json": b'{"format": "another"}'}))
    assert "another format" in refused(zip_of({"header.json": b"[1, 2]"}))


def test_a_compressed_archive() -> None:
    header, arrays = taken_apart(saved(**SMALL))
    text = json.dumps(header, indent=1, ensure_ascii=False).encode()
    assert "another archive (its entries are compressed, encrypted or overlap)" in refused(
        zip_of({"header.json": text, **arrays}, method=8)
    )
    for method in (1, 9, 12, 14, 93, 99):  # known to few readers or to none
        refused(zip_of({"header.json": text, **arrays}, method=method))


def test_an_encrypted_archive() -> None:
    assert "another archive (its entries are compressed, encrypted or overlap)" in refused(
        zip_of({"header.json": b"{}"}, flags=1)
    )


@pytest.mark.parametrize("sizes", [0, 1, 2**20, 2**31 - 1, 2**32 - 2, 2**32 - 1])
def test_declared_sizes_that_are_not_so(sizes: int) -> None:
    header, arrays = taken_apart(saved(**SMALL))
    text = json.dumps(header, indent=1, ensure_ascii=False).encode()
    refused(zip_of({"header.json": text, **arrays}, sizes=sizes))
    refused(zip_of({"header.json": b""}, sizes=sizes))


def test_a_zip_bomb_is_not_unpacked() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("header.json", "w") as entry:
        for _ in range(64):
            entry.write(bytes(2**20))
    assert len(buffer.getvalue()) < 2**17
    assert "another archive (its entries are compressed, encrypted or overlap)" in refused(buffer.getvalue())


def test_entries_that_share_their_bytes() -> None:
    """Many directory entries for one body, which would add up to far more than the file."""
    body = b"x" * 10000
    data = zip_of({"header.json": body})
    directory = data.index(b"PK\1\2")
    entry, end = data[directory:-22], data[-22:]
    count = 1000
    forged = end[:8] + count.to_bytes(2, "little") * 2 + (count * len(entry)).to_bytes(4, "little") + end[16:]
    refused(data[:directory] + entry * count + forged)


def test_an_entry_twice() -> None:
    header, arrays = taken_apart(saved(**SMALL))
    text = json.dumps(header, indent=1, ensure_ascii=False).encode()
    pairs = [("header.json", text), *arrays.items()]
    assert "'header.json' occurs twice" in refused(zip_of([*pairs, pairs[0]]))
    assert "occurs twice" in refused(zip_of([*pairs, pairs[-1]]))


@pytest.mark.parametrize(
    "name",
    ["../evil.npy", "/etc/passwd", "blocks\\0\\level.npy", "blocks/0/../1/low.npy", "a\0b", "", "x" * 60000, "é\n"],
)
def test_names_that_lead_elsewhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    header, arrays = taken_apart(saved(**SMALL))
    refused(written(header, {**arrays, name: b"data"}))
    refused(signed(header, {**arrays, name: b"data"}))
    first, *others = arrays
    refused(signed_with_names(header, {name: arrays[first], **{each: arrays[each] for each in others}}))
    assert list(tmp_path.iterdir()) == []


def signed_with_names(header: dict, arrays: dict[str, bytes]) -> bytes:
    return written({**header, "arrays": {name: sha256(data) for name, data in arrays.items()}}, arrays)


def test_arrays_left_out_or_added() -> None:
    header, arrays = taken_apart(saved(**SMALL))
    fewer = dict(list(arrays.items())[:-1])
    assert "are not those that the header lists" in refused(written(header, fewer))
    assert "5 arrays per block" in refused(signed_with_names(header, fewer))
    assert "are not those that the header lists" in refused(written(header, {**arrays, "more": b""}))
    assert "5 arrays per block" in refused(signed_with_names(header, {**arrays, "more": b""}))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("level", npy_of([2, 1, 0], "<i4")),
        ("level", npy_of([2, 1, 0], ">i2")),
        ("low", npy_of([0.0, 1.0], "<f8")),
        ("low", npy_of([0, 1], "<i4", shape="(1, 2)")),
        ("low", npy_of([0, 1], "<i4", shape="()")),
        ("low", npy_of([0, 1], "<i4", shape="(1,)")),
        ("low", npy_of([0, 1], "<i4", shape="(1000000000000,)")),
        ("low", npy_of([0, 1], "<i4", shape="(-1,)")),
        ("low", npy_of([0, 1], "<i4", shape="(True,)")),
        ("low", npy_of([0, 1], "<i4", order="True")),
        ("low", npy_of([0, 1], "<i4", version=b"\2\0")),
        ("low", npy_of([0, 1], "<i4", version=b"\3\0")),
        ("low", npy_of([0, 1], "|O")),
        ("low", b"\x80\x04\x95\x00."),
        ("low", b""),
        ("low", b"\x93NUMPY"),
        ("low", npy_of([0, 1], "<i4") + b"\0"),
        ("low", npy_of([0, 1], "<i4")[:-1]),
        ("low", npy_of([0, 1], "<i4").replace(b"'descr'", b"__import__('os')")),
        ("low", b"\x93NUMPY\1\0\xff\xff" + b"(" * 65535),
        ("order", npy_of([], "<i2")),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_arrays_that_are_not_what_they_should_be(name: str, data: bytes) -> None:
    header, arrays = taken_apart(saved(**SMALL))
    said = refused(signed_with_names(header, {**arrays, f"blocks/1/{name}.npy": data}))
    assert f"blocks/1/{name}.npy must be an npy array" in said or "the diagram is not one of the block's words" in said


def test_a_tiny_file_of_huge_tables_is_refused_before_they_are_made() -> None:
    """A constant function of 26 bits has a diagram of no nodes and a table of 64 Mi entries; here are a hundred."""
    header, arrays = taken_apart(saved(**SMALL))
    block = {"kind": "product", "widths": [13, 13], "signed": False, "shift": 0, "low": 0, "high": (2**13 - 1) ** 2}
    made = {"level": [26], "low": [0], "high": [0], "roots": [0] * 26, "order": list(range(26))}
    types = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
    first = len(header["plan"]["blocks"])
    for k in range(first, first + 100):
        header["plan"]["blocks"].append(block)
        header["tables"].append("0" * 64)
        arrays |= {f"blocks/{k}/{name}.npy": npy_of(made[name], types[name]) for name in types}
    assert "are more than the 4 GiB allowed" in refused(signed(header, arrays))


@pytest.mark.everything
def test_a_large_hostile_header_takes_memory_in_proportion(tmp_path: Path) -> None:
    """32 MiB of the dearest JSON there is, under a limit of address space; then one beyond the limit of headers."""
    path = tmp_path / "large.bdt"
    path.write_bytes(zip_of({"header.json": b"[" + b"[],".ljust(3) * (32 * 2**20 // 3) + b"0]"}))
    code = (
        "import resource, sys, bddtorque as bt\n"
        "from bddtorque.model.model import load\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, resource.RLIM_INFINITY))\n"
        "try:\n    load(sys.argv[1])\nexcept bt.BddTorqueError as problem:\n    print(problem)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert "its header is that of another format" in ran.stdout
    assert "its first entry must be header.json" in refused(zip_of({"header.json": b" " * (64 * 2**20 + 1)}))


ROBOTS = Path(bt.__file__).parent / "robots" / "builtin"


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none.bdt", "there is no such file"),
        (tmp_path, "this is a folder, not a .bdt file"),
        ("a\0b", "cannot be read: "),
        ("/dev/null", "not a .bdt file: it is empty"),
        ("/dev/zero", "not a .bdt file"),  # and it has no end
        ("line\nbreak.bdt", r"line\\nbreak.bdt: there is no such file"),
        ("x" * 5000, "File name too long"),
        ("ur5", "ur5: there is no such file; compile a robot first: bddtorque compile ur5"),
        (ROBOTS / "ur5.toml", r"ur5.toml: not a .bdt file; compile it first: bddtorque compile .*ur5.toml"),
    ):
        if str(path).startswith("/dev") and not Path(path).exists():
            continue
        with pytest.raises(BddTorqueError, match=message) as caught:
            bt.load(path)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
        assert [(check.name, check.passed) for check in verify(path)] == [("file", False)]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "secret.bdt"
    path.write_bytes(saved(**SMALL))
    path.chmod(0)
    with pytest.raises(BddTorqueError, match="cannot be read: Permission denied"):
        bt.load(path)


def test_a_file_larger_than_any(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "large.bdt"
    path.write_bytes(saved(**SMALL))
    monkeypatch.setattr("bddtorque.base.archive.LARGEST_FILE", len(saved(**SMALL)) - 1)
    with pytest.raises(BddTorqueError, match="bytes, this one has more"):
        bt.load(path)


def test_a_model_may_have_any_name(tmp_path: Path) -> None:
    for name in ("arm.toml", "arm"):
        path = tmp_path / name
        path.write_bytes(saved(**SMALL))
        assert bt.load(path).name == "planar2r"
