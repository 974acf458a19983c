"""Exported C as a library that a stock project takes: for the Arduino IDE, PlatformIO, CMake or Zephyr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from bddtorque.base.version import __version__
from bddtorque.export.c_signature import CSignature
from bddtorque.export.template_files import fill, template


def packaged(
    package: str, files: Mapping[str, str], prefix: str, signature: CSignature, libraries: str
) -> dict[str, str]:
    """Return the files of a library from those of a plain export: sources in ``src/``, and an example."""
    sources = {f"src/{name}": text for name, text in files.items() if name.endswith((".c", ".h"))}
    selftest = sources.pop(f"src/{prefix}_selftest.c")
    if package == "arduino":
        return {
            "library.properties": _properties(prefix),
            "keywords.txt": f"{prefix}_{signature.function}\tKEYWORD2\n",
            **sources,
            f"examples/{prefix}_words/{prefix}_words.ino": _sketch(prefix, signature),
        }
    if package == "platformio":
        return {"library.json": _platformio(prefix), **sources, "examples/main.c": _main(prefix, signature)}
    names = " ".join(name for name in sources if name.endswith(".c"))
    if package == "zephyr":
        return {
            "zephyr/module.yml": f"name: {prefix}\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\n",
            "zephyr/Kconfig": _kconfig(prefix),
            "zephyr/CMakeLists.txt": _zephyr(prefix, [name for name in sources if name.endswith(".c")]),
            **sources,
            "examples/main.c": _main(prefix, signature),
        }
    return {
        "CMakeLists.txt": _cmake(prefix, names, libraries),
        **sources,
        f"tests/{prefix}_selftest.c": selftest,
        "examples/main.c": _main(prefix, signature),
    }


def _properties(prefix: str) -> str:
    return fill(template("library.properties"), prefix=prefix, __version__=__version__)


def _arrays(prefix: str, signature: CSignature) -> tuple[str, str]:
    """Return declarations of all arrays of a call, zeros but for the output, and the arguments."""
    declared = [
        f"static const {signature.type} {array}[{signature.count(prefix, array)}] = {{0}};"
        for array in signature.arrays
    ]
    declared.append(f"static {signature.type} {signature.result}[{signature.count(prefix, signature.result)}];")
    return "\n".join(declared), ", ".join([*signature.arrays, signature.result])


def _sketch(prefix: str, signature: CSignature) -> str:
    declared, given = _arrays(prefix, signature)
    return fill(
        template("sketch.ino"),
        prefix=prefix,
        declared=declared,
        function=signature.function,
        given=given,
        result=signature.result,
    )


def _main(prefix: str, signature: CSignature) -> str:
    declared, given = _arrays(prefix, signature)
    return fill(template("main.c"), prefix=prefix, declared=declared, function=signature.function, given=given)


def _platformio(prefix: str) -> str:
    described = {
        "name": prefix,
        "version": "1.0.0",
        "description": "Fixed-point words in, fixed-point words out, with a proved error. Written by bddtorque.",
        "frameworks": "*",
        "platforms": "*",
        "headers": f"{prefix}.h",
        "build": {"srcDir": "src", "includeDir": "src"},
    }
    return json.dumps(described, indent=2) + "\n"


def _kconfig(prefix: str) -> str:
    return f"""\
config {prefix.upper()}
\tbool "{prefix}: words of torques with a proved error, written by bddtorque"
\tdefault y
"""


def _zephyr(prefix: str, names: Sequence[str]) -> str:
    listed = " ".join(f"${{CMAKE_CURRENT_LIST_DIR}}/../{name}" for name in names)
    return fill(template("zephyr.cmake"), macro=prefix.upper(), prefix=prefix, listed=listed)


def _cmake(prefix: str, names: str, libraries: str) -> str:
    linked = f"target_link_libraries({prefix} PUBLIC m)\n" if libraries else ""
    return fill(template("CMakeLists.txt"), prefix=prefix, names=names, linked=linked)
