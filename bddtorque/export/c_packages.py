"""Exported C as a library that a stock project takes: for the Arduino IDE, PlatformIO, CMake or Zephyr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from bddtorque.base.version import __version__
from bddtorque.export.c_signature import CSignature


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
    return f"""\
name={prefix}
version=1.0.0
author=bddtorque {__version__}
maintainer=bddtorque
sentence=Fixed-point words in, fixed-point words out, with a proved error.
paragraph=Written by bddtorque export; the header says what the words mean and what is proved of them.
category=Data Processing
url=https://github.com/
architectures=*
includes={prefix}.h
"""


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
    return f"""\
/* Computes the words of one state, again and again, and prints them with the time that a call took. */
#include <{prefix}.h>

{declared}

void setup()
{{
    Serial.begin(115200);
}}

void loop()
{{
    const unsigned long begun = micros();
    const int outside = {prefix}_{signature.function}({given});
    const unsigned long taken = micros() - begun;

    for (unsigned k = 0; k < sizeof {signature.result} / sizeof {signature.result}[0]; k++) {{
        Serial.print({signature.result}[k]);
        Serial.print(' ');
    }}
    Serial.print(outside);
    Serial.print(" out of range, ");
    Serial.print(taken);
    Serial.println(" us");
    delay(1000);
}}
"""


def _main(prefix: str, signature: CSignature) -> str:
    declared, given = _arrays(prefix, signature)
    return f"""\
/* Computes the words of one state; a debugger, or a loop of your own, looks at them. */
#include "{prefix}.h"

{declared}

int main(void)
{{
    return {prefix}_{signature.function}({given});
}}
"""


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
    return f"""\
# Written by bddtorque. In your application: list(APPEND ZEPHYR_EXTRA_MODULES this folder) before find_package(Zephyr).
if(CONFIG_{prefix.upper()})
  zephyr_library_named({prefix})
  zephyr_library_sources({listed})
  zephyr_include_directories(${{CMAKE_CURRENT_LIST_DIR}}/../src)
endif()
"""


def _cmake(prefix: str, names: str, libraries: str) -> str:
    linked = f"target_link_libraries({prefix} PUBLIC m)\n" if libraries else ""
    return f"""\
# Written by bddtorque. In your project: add_subdirectory(this folder), target_link_libraries(firmware {prefix}).
cmake_minimum_required(VERSION 3.13)
project({prefix} LANGUAGES C)

add_library({prefix} STATIC {names})
target_include_directories({prefix} PUBLIC src)
set_target_properties({prefix} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
{linked}
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT CMAKE_CROSSCOMPILING)
  enable_testing()
  add_executable({prefix}_example examples/main.c)
  target_link_libraries({prefix}_example {prefix})
  add_executable({prefix}_selftest tests/{prefix}_selftest.c)
  target_link_libraries({prefix}_selftest {prefix})
  add_test(NAME {prefix}_selftest COMMAND {prefix}_selftest)
endif()
"""
