"""CSV, npy and JSON that are hostile by design: states, samples, plans, with the refusal that each must get."""

from pathlib import Path

import pytest
from fuzz_seeds import STATES
from hostile_files import BIDI, file, refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STATES + "\n" + "1," * 600_000, "line 2: a row must have at most 1,000,000 characters, this one has more"),
        (STATES + "\n" + '"\n",' * 600_000, "a row must have at most 1,000,000 characters, this one has more"),
        (STATES + '\n"' + "1" * 200_000 + '"', "line 2: this is not CSV (field larger than field limit (131072))"),
        (STATES + '\n"1', "this is not CSV (unexpected end of data)"),
        (STATES + "\n1,2,3,4,5,6\0", "line 2, column qdd:elbow must be a finite number, got '6\\x00'"),
        (STATES + "\n1,2,3,4,5,1e999", "column qdd:elbow must be a finite number, got '1e999'"),
        (STATES + "\n1,2,3,4,5,٣", "must be a finite number, got '٣'"),
        (STATES + "\n1,2,3,4,5,\x1f6", "must be a finite number, got '\\x1f6'"),
        (STATES + "\n1,2,3,4,5,\u20036", "must be a finite number, got '\\u20036'"),
        (STATES + "\n1,2,3,4,5,1_0", "must be a finite number, got '1_0'"),
        (STATES + "\n1,2,3,4,5,1" + "0" * 400, "must be a finite number, got"),
        (f"{BIDI}\n", "unknown column 'abc\\u202edef'"),
        (f"{STATES},{'x' * 100_000}\n", "line 1: unknown column 'xxx"),
        (f"{STATES},{STATES}\n", "occurs twice"),
        ("\r\r\r" + STATES, "line 1: "),
        (b"\xff\xfeq", "must be a readable CSV file in UTF-8"),
        (STATES.encode() + b"\n1,2,3,4,5,\xff", "must be a readable CSV file in UTF-8"),
        (STATES.encode("utf-16"), "must be a readable CSV file in UTF-8"),
    ],
    ids=lambda value: repr(value[-20:]),
)
def test_states(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("states_csv", file(tmp_path, "states_csv", text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            ",".join(f"c{k}" for k in range(120_000)) + "\n",
            "columns must be 1 to 4 inputs and a value, got 120000",
        ),
        ("x," * 300_000 + "x\n", "line 1: column 'x' occurs twice"),
        ("x,y\n" + '"1\n"' * 400_000, "this is not CSV (field larger than field limit"),
        ("x,y\n1,2\n3,1e309", "line 3, column y must be a finite number, got '1e309'"),
        (f"x,{BIDI}\n1,2\n", "the header must hold the names of the columns, got 'abc\\u202edef'"),
        ("x,y\n1,\x1f2\n", "line 2, column y must be a finite number"),
        ("x,y\n1,\x002\n", "line 2, column y must be a finite number"),
        ("x,y\n" + "\n" * 900_000, "there are no samples below the header"),
        ("x,y\n1e308,1e308\n-1e308,-1e308\n", "the range must be finite"),
        (b"x,y\n1,2\n\xff,3\n", "must be a readable CSV file in UTF-8: "),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_samples(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("samples_csv", file(tmp_path, "samples_csv", text))


@pytest.mark.parametrize(
    "header",
    [
        "(" * 9000,
        "-" * 9000 + "1",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 6)",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 6L), '''",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 6), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 6), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1" + "0" * 5000 + ", 6), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3, 6), }",
        "{'descr': [('a', '<f8', (1000000, 1000000))], 'fortran_order': False, 'shape': (3, 6), }",
        "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (3, 6), }",
        "{" + "1:" * 4000,
        "x" * 20_000,
        "\0" * 100,
        "\xff" * 100,
    ],
    ids=lambda value: repr(value[:25]),
)
def test_headers_of_npy_files(header: str, tmp_path: Path) -> None:
    data = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode("latin-1") + bytes(144)
    assert "input.npy must be an npy file" in refused("states_npy", file(tmp_path, "states_npy", data))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 1_000_000, "got a file that is not JSON"),
        ('{"a":' * 100_000, "got a file that is not JSON"),
        ('{"format": "bddtorque plan", "version": 1' + "0" * 5000 + ', "plan": {}}', "got a file that is not JSON"),
        ('{"format": "bddtorque plan", "version": NaN, "plan": {}}', "version must be 1, got nan"),
        ('{"format": "bddtorque plan", "version": "\\n\\u202e", "plan": {}}', "version must be 1"),
        ('{"format": "bddtorque plan", "version": 1, "plan": []}', "must be a table with source"),
        (b"\xff\xfe[", "got a file that is not JSON"),
        (b'{"format": "\xff"}', "got a file that is not JSON"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_plans(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("plan_bytes", file(tmp_path, "plan_bytes", text))
