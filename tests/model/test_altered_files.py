"""A flipped bit anywhere, a lost end, an added byte: none of it loads, and verify says so."""

import json

import numpy as np
import pytest
from bdt_files import saved, sha256, signed, taken_apart, written, zip_of
from examples_tried import EVERY

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify
from bddtorque.model.model import from_bytes

SMALL = {"bits": 2, "source": "recursive"}


def refused(data: bytes, name: str = "arm.bdt") -> str:
    """Return the message with which a file is refused: one line, not too long, and the same from `verify`."""
    with pytest.raises(BddTorqueError) as caught:
        from_bytes(data, name)
    message = str(caught.value)
    assert message.startswith(name) and message.isprintable() and len(message) < 600, message
    return message


def flipped(data: bytes, place: int, bits: int) -> bytes:
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.everything)])
def test_a_flipped_bit_in_any_byte(step: int) -> None:
    data = saved(**SMALL)
    bits = 1 << np.random.default_rng(1).integers(0, 8, len(data))
    for place in range(0, len(data), step):
        refused(flipped(data, place, int(bits[place])))


def test_every_bit_of_what_is_not_in_an_entry() -> None:
    """The archive's own fields, of which zip readers overlook many: attributes, times, versions, second copies."""
    data = saved(**SMALL)
    header = len(taken_apart_text(data))
    directory = data.index(b"PK\1\2")
    places = [*range(30 + len("header.json")), *range(directory, directory + 60), *range(len(data) - 22, len(data))]
    after = 30 + len("header.json") + header  # the local header of the first array
    for place in [*places, *range(after, after + 40)]:
        for bit in range(8) if EVERY else (0, 5, 7):
            refused(flipped(data, place, 1 << bit))


def taken_apart_text(data: bytes) -> bytes:
    header, _ = taken_apart(data)
    return json.dumps(header, indent=1, ensure_ascii=False).encode()


def test_verify_finds_what_load_finds() -> None:
    data = saved(**SMALL)
    for place in np.random.default_rng(2).integers(0, len(data), 200):
        checks = verify(flipped(data, int(place), 1), workers=1)
        assert [check.passed for check in checks] == [False]
        assert checks[0].detail == refused(flipped(data, int(place), 1), "model")  # bytes have no name


def test_a_flipped_bit_with_its_checksum_put_right() -> None:
    """The sums of the zip format are no defence against anyone: what is in the entries is checked by itself."""
    header, arrays = taken_apart(saved(**SMALL))
    entries = {"header.json": taken_apart_text(saved(**SMALL)), **arrays}
    assert zip_of(entries) == saved(**SMALL)
    start = entries["header.json"].index(b'"package": "') + len('"package": "')
    package = range(start, start + len(header["package"]))  # by whom the file was written: the one thing left open
    rng = np.random.default_rng(3)
    for name, data in entries.items():
        for place in rng.integers(0, len(data), 1000 if name == "header.json" else 30):
            if name != "header.json" or place not in package:
                refused(zip_of({**entries, name: flipped(data, int(place), 1 << int(rng.integers(8)))}))


def test_a_flipped_bit_in_an_array_with_its_hash_put_right() -> None:
    header, arrays = taken_apart(saved(**SMALL))
    rng = np.random.default_rng(4)
    for name, data in arrays.items():
        for place in rng.integers(0, len(data), 12):
            other = {**arrays, name: flipped(data, int(place), 1 << int(rng.integers(8)))}
            hashes = {each: sha256(bytes_) for each, bytes_ in other.items()}
            refused(written({**header, "arrays": hashes}, other))
            refused(signed(header, other))  # with all digests: the tables are still known by their own keys


def test_a_file_cut_short() -> None:
    data = saved(**SMALL)
    lengths = {*range(0, 200), *range(0, len(data), 37), *range(len(data) - 100, len(data))}
    for length in lengths:
        refused(data[:length])


@pytest.mark.parametrize("extra", [b"\0", b"\n", b"PK\5\6" + b"\0" * 18, b"x" * 70000])
def test_bytes_added(extra: bytes) -> None:
    data = saved(**SMALL)
    refused(data + extra)
    refused(extra + data)
    middle = data.index(b"PK\1\2")
    refused(data[:middle] + extra + data[middle:])


def test_two_files_in_one() -> None:
    refused(saved(**SMALL) + saved(**SMALL))
    refused(saved(**SMALL) + saved(bits=4))


def test_a_comment_in_the_archive() -> None:
    data = saved(**SMALL)
    refused(data[:-2] + b"\5\0hello")


def test_entries_in_another_order() -> None:
    header, arrays = taken_apart(saved(**SMALL))
    refused(written(header, dict(reversed(arrays.items()))))
    moved = dict(reversed(arrays.items()))
    assert "altered or rewritten" in refused(signed(header, moved))


def test_the_same_header_in_other_words() -> None:
    """JSON can say one thing in many ways; a file says it in one."""
    header, arrays = taken_apart(saved(**SMALL))
    texts = [
        json.dumps(header, ensure_ascii=False),
        json.dumps(header, indent=1),
        json.dumps(header, indent=2, ensure_ascii=False),
        json.dumps(header, indent=1, ensure_ascii=False) + "\n",
        "\ufeff" + json.dumps(header, indent=1, ensure_ascii=False),
        json.dumps(header, indent=1, sort_keys=True, ensure_ascii=False),
        json.dumps(header, indent=1, ensure_ascii=False).replace('"version": 1', '"version": 1, "version": 1'),
    ]
    for text in texts:
        refused(zip_of({"header.json": text.encode(), **arrays}))
    for encoding in ("utf-16", "utf-32-le"):
        refused(zip_of({"header.json": json.dumps(header, indent=1).encode(encoding), **arrays}))
