"""Words of the languages that are read, for mutations to put where they do not belong."""

from __future__ import annotations

JSON = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"[" * 3000,
    b'{"a":' * 500, b'"\\ud800"', b'"\\u0000"', b"// x", b"0123", b"1" * 25, b"1" * 5000, b"PK\3\4", b"PK\1\2",
    b"PK\5\6", b"PK\6\6",
)  # fmt: skip
TOML = (
    b"\n[[joint]]\n", b"\n[joint]\n", b"\n[tip]\n", b"\n[a.b.c]\n", b" = ", b"\nrobot = ", b"\nname = ", b"''", b'""',
    b"'''", b'"""\n', b"{ }", b"[ ]", b"[" * 2000, b"{a=" * 500, b"\na." + b"b." * 300 + b"c = 1\n",
    b"\nname." + b"a." * 90, b"1979-05-27T07:32:00Z", b"07:32:00", b"+inf", b"nan", b"0o17", b"1__0", b"\\U0010FFFF",
    b"\\x1b", b"pi/2", b'"90 deg"', b'"1e400*pi"', b'friction = { samples = "a\\u0000b" }\n',
    b'friction = { samples = "/dev/null" }\n', b"\\e", b"# \x00", b'\n[[joint]]\nname = "a\\nb"\ntorque = -1\n',
    b"payload = 0x" + b"f" * 300 + b"\n", b"lock = 'others'\n", b"tip = 1\n",
)  # fmt: skip
XML = (
    b"<!DOCTYPE robot>", b'<!DOCTYPE r [<!ENTITY a "b">]>', b"<!ENTITY a 'b'>", b"&a;", b"&lt;", b"&#0;", b"&#x202e;",
    b"&#xD800;", b"&#x41;", b"<![CDATA[x]]>", b"<!-- x -->", b"<?xml version='1.1'?>", b"<?php x?>",
    b"<link name='x'/>", b"<mass value='1'/>", b"<axis xyz='0 0 0'/>", b"<mimic joint='shoulder'/>", b"<xacro:x/>",
    b"${x}", b"xmlns='u'", b" xmlns:a='u' a:name='x'", b"encoding='utf-7'", b"encoding='idna'",
    b"encoding='unicode_escape'", b"encoding='cp037'", b"type='floating'", b"type='continuous'", b"type='fixed'",
    b"<inertial/>", b"<limit/>", b"<a>" * 150, b"<joint/>", b"xyz='1e200 1e200 1e200'", b"value='1e308'",
    b"rpy='1e300 0 0'", b"<safety_controller/>", b"</robot>", b"name=''",
)  # fmt: skip
CSV = (
    b",", b";", b'"', b'""', b'"a\nb"', b"\r", b"\n", b"\n\n", b",,", b"q:shoulder", b"qdd:elbow,", b"tau:x", b"inf",
    b"nan", b"1,2,3,4,5,6\n", b"1,2\n", b"velocity", b" 1 ", b"\t", b"'1'", b"=1+1", b"a" * 140_000, b"0" * 500,
    b'"' * 1001, b"\x00",
)  # fmt: skip
NPY = (
    b"\x93NUMPY", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"'descr'", b"'<f8'", b"'>f8'", b"'|O'", b"'<U9'", b"'<f16'",
    b"'<M8[s]'", b"'<i8'", b"'|b1'", b"[('a', '<f8')]", b"('<f8', (6,))", b"True", b"None", b"(3, 6)", b"(0, 6)",
    b"(-1, 6)", b"(99999999999, 6)", b"(2L, 6L)", b"()", b"(6,)", b"(3, 6, 1)", b"(" * 500, b"-" * 5000 + b"1", b"\n",
    b"__import__('os')", b"'shape': (9223372036854775807, 6)", b"{" * 200, b"1e999", b"PK\3\4", b"PK\1\2",
    b'{"tuple": 1}', b'{"float": "x"}', b'{"array": 99}', b"[" * 2000, b'{"dict": [[[], 1]]}', b"tree.npy",
    b"\x08\x00",
)  # fmt: skip
