"""Libraries for the Arduino IDE and for CMake: built as stock projects build them, with compilers that are not ours."""

import json
import shutil
import subprocess

import pytest
from compiled import arm

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError

ARDUINO = """\
#include <stdint.h>
#include <stddef.h>
struct Port {
    void begin(long);
    template <class T> void print(T x) { sent = (char)x; }
    void print(const char *x) { sent = *x; }
    void println(const char *x) { sent = *x; }
    volatile char sent;
};
extern Port Serial;
unsigned long micros();
void delay(unsigned long);
"""
BOARD = """\
#include "Arduino.h"
void Port::begin(long) {}
Port Serial;
unsigned long micros() { return 0; }
void delay(unsigned long) {}
void setup();
void loop();
int main() { setup(); for (;;) loop(); }
"""


def needs(tool: str, package: str):
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"no {tool}: apt-get install {package}")


def run(*command, cwd=None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    return done.stdout


@needs("avr-g++", "gcc-avr avr-libc")
def test_an_arduino_library_builds_for_an_uno(tmp_path):
    """As the Arduino IDE does it: C by avr-gcc -std=gnu11, the sketch by avr-g++ after Arduino.h."""
    folder = tmp_path / "planar2r"
    bt.export_c(arm(6, workers=1), folder, package="arduino", chip="avr", io=16, flash="64 kB", vectors=1)
    listed = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"library.properties", "src/planar2r.h", "src/planar2r.c"} <= listed
    assert "includes=planar2r.h\n" in (folder / "library.properties").read_text()
    board = tmp_path / "board"
    board.mkdir()
    (board / "Arduino.h").write_text(ARDUINO)
    (board / "board.cpp").write_text(BOARD)
    shared = ["-mmcu=atmega2560", "-Os", "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Werror"]
    includes = [f"-I{folder / 'src'}", f"-I{board}"]
    sketch = str(folder / "examples/planar2r_words/planar2r_words.ino")
    run("avr-gcc", *shared, "-std=gnu11", "-c", str(folder / "src/planar2r.c"), "-o", "words.o", cwd=board)
    flags = [*shared, "-std=gnu++11", "-fno-exceptions", *includes]
    run("avr-g++", *flags, "-x", "c++", "-include", "Arduino.h", "-c", sketch, "-o", "sketch.o", cwd=board)
    run("avr-g++", *flags, "-Wl,--gc-sections", "board.cpp", "sketch.o", "words.o", "-o", "sketch.elf", cwd=board)
    data = int(run("avr-size", "sketch.elf", cwd=board).splitlines()[1].split()[1])
    assert data < 64  # the texts of the sketch; tables stay in flash


@needs("cmake", "cmake")
def test_a_cmake_library_builds_and_checks_itself(tmp_path):
    bt.export_c(arm(6, workers=1), tmp_path / "arm", package="cmake", vectors=64)
    run("cmake", "-S", "arm", "-B", "built", cwd=tmp_path)
    run("cmake", "--build", "built", cwd=tmp_path)
    assert "100% tests passed" in run("ctest", "--test-dir", "built", cwd=tmp_path)


@needs("cmake", "cmake")
@needs("arm-none-eabi-gcc", "gcc-arm-none-eabi")
def test_firmware_takes_a_cmake_library(tmp_path):
    bt.export_c(arm(6, workers=1), tmp_path / "arm", package="cmake", chip="cortex-m0", vectors=1)
    (tmp_path / "main.c").write_text((tmp_path / "arm/examples/main.c").read_text())
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(firmware C)\nadd_subdirectory(arm)\n"
        "add_executable(firmware main.c)\ntarget_link_libraries(firmware planar2r)\n"
    )
    flags = "-DCMAKE_C_FLAGS=-mcpu=cortex-m0 -mthumb --specs=nosys.specs"
    system = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc"]
    run("cmake", "-S", ".", "-B", "built", *system, flags, cwd=tmp_path)
    run("cmake", "--build", "built", cwd=tmp_path)
    assert "planar2r_torque_words" in run("arm-none-eabi-nm", "built/firmware", cwd=tmp_path)


ZEPHYR = """\
cmake_minimum_required(VERSION 3.13)
project(application C)
set(CONFIG_PLANAR2R y)
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC "")
endmacro()
macro(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_include_directories)
  include_directories(${ARGN})
  target_include_directories(${ZEPHYR_CURRENT_LIBRARY} PUBLIC ${ARGN})
endmacro()
add_subdirectory(arm/zephyr module)
add_executable(application arm/examples/main.c)
target_link_libraries(application planar2r)
"""


@needs("cmake", "cmake")
def test_a_zephyr_module_builds(tmp_path):
    """With stand-ins for the functions of Zephyr's build that a module calls."""
    bt.export_c(arm(6, workers=1), tmp_path / "arm", package="zephyr", vectors=1)
    assert (tmp_path / "arm/zephyr/module.yml").read_text().startswith("name: planar2r\nbuild:\n  cmake: zephyr\n")
    assert "config PLANAR2R\n" in (tmp_path / "arm/zephyr/Kconfig").read_text()
    (tmp_path / "CMakeLists.txt").write_text(ZEPHYR)
    run("cmake", "-S", ".", "-B", "built", cwd=tmp_path)
    run("cmake", "--build", "built", cwd=tmp_path)
    run("built/application", cwd=tmp_path)


def test_a_platformio_library_is_described(tmp_path):
    bt.export_c(arm(6, workers=1), tmp_path / "arm", package="platformio", vectors=1)
    described = json.loads((tmp_path / "arm/library.json").read_text())
    assert (described["name"], described["headers"]) == ("planar2r", "planar2r.h")
    assert (tmp_path / "arm" / described["build"]["srcDir"] / "planar2r.c").exists()
    assert (tmp_path / "arm/examples/main.c").exists()


def test_folders_of_packages_are_replaced_and_foreign_files_in_them_are_kept(tmp_path):
    model = arm(6, workers=1)
    bt.export_c(model, tmp_path / "arm", package="cmake", vectors=1)
    bt.export_c(model, tmp_path / "arm", package="arduino", vectors=1)
    assert not (tmp_path / "arm/CMakeLists.txt").exists()
    (tmp_path / "arm/src/mine.c").write_text("")
    with pytest.raises(BddTorqueError, match=r"holds 'src/mine\.c', which no export wrote"):
        bt.export_c(model, tmp_path / "arm", package="cmake", vectors=1)
    with pytest.raises(BddTorqueError, match=r"package must be 'arduino', 'cmake', .*, got 'zephir'"):
        bt.export_c(model, tmp_path / "other", package="zephir", vectors=1)
    with pytest.raises(BddTorqueError, match="package is only valid for a whole model"):
        bt.export_c(model, tmp_path / "other", package="cmake", term="C1_22", vectors=1)
