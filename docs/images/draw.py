"""Draw the pictures of docs/architecture.md: the layers, and the two walks through them.

    python docs/images/draw.py            write the SVG files beside this script
    python docs/images/draw.py --check    exit 1 if a file would change, or a step names what does not exist

The layers come from the import-linter contract in pyproject.toml and what they say of themselves from the first line of
their docstrings, so that neither the picture nor the check can drift from the code.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
INK, LINE, FILL, STEP = "#1b2733", "#8496a9", "#f3f6f9", "#e4edf6"
FONT = 'font-family="Helvetica, Arial, sans-serif"'
GROUPS = {
    "what is done with a model": ("cli", "report", "assurance", "export", "bench", "questions", "sweeps"),
    "the compiled thing": ("compiler", "model", "evaluate"),
    "tables and proof": ("targets", "proof", "plan"),
    "what to compile": ("dynamics", "spec", "robots"),
    "ground": ("words", "base", "independent"),
}


@dataclass(frozen=True)
class Step:
    """One box of a walk: a function, and what it hands on."""

    place: str
    does: str
    hands_on: str


COMPILE = (
    Step("spec.spec_files:spec_and_robot", "a name, a file, a Spec or a Robot becomes what to compile", "Spec, Robot"),
    Step("compiler.robot_draft:draft_of_robot", "fixes ranges and words, and has the quantity planned", "Interface"),
    Step("compiler.origin:origins_of", "traces the quantity: from terms, the recursion or the robot", "Graph"),
    Step("targets.tables.budget:plan_network", "covers the graph with blocks, words wide enough for the bound", "Plan"),
    Step("compiler.model_building:build_blocks", "spreads the blocks over workers, cached by content", "Block"),
    Step("plan.tabulate:tabulate", "rounds every entry of a block; its largest error is found", "Table, BlockFacts"),
    Step("plan.reduction:reduce", "has dd build and reorder the diagram, reads it back, and checks it", "Diagram"),
    Step("compiler.draft:certify", "composes the errors of all blocks into a bound per output", "Certificate"),
    Step("model.model:Model.save", "hands words, plan, diagrams and certificate to the file format", "Model"),
    Step("model.bdt_file:encode", "a zip of npy arrays and a JSON header with their hashes", "bytes"),
    Step("base.files:write_whole", "writes the file whole or not at all", ""),
)
TORQUE = (
    Step(
        "model.model:Model.torque_words",
        "makes its evaluator on the first call; later calls go straight to it",
        "q, qd, qdd",
    ),
    Step(
        "evaluate.evaluator:Evaluator.torque_words", "a single state of int64 arrays skips to the kernel", "q, qd, qdd"
    ),
    Step("evaluate.state_arrays:StateArrays.rows", "checks shapes and types, broadcasts rows", "one array per input"),
    Step(
        "evaluate.runners:CodeRunner.run",
        "runs code made for this plan, which multiplies, looks up or walks",
        "int64 arrays (N, words)",
    ),
    Step("evaluate.single:run_batch", "the compiled call: cuts a batch into what the plan takes, no GIL", ""),
)


def layers() -> list[str]:
    """Return the layers of the contract, top to bottom."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    named: list[str] = next(each["layers"] for each in contracts if each["containers"] == ["bddtorque"])
    return named


def about(layer: str) -> str:
    """Return the first line of a layer's docstring."""
    text = (ROOT / "bddtorque" / layer / "__init__.py").read_text()
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0].rstrip(".")


def check_steps(steps: tuple[Step, ...]) -> None:
    """Import every function that a walk names."""
    for step in steps:
        module, _, names = step.place.partition(":")
        thing = import_module(f"bddtorque.{module}")
        for name in names.split("."):
            thing = getattr(thing, name)


def text(x: float, y: float, words: str, size: int = 13, weight: str = "normal", colour: str = INK) -> str:
    """Return a line of text as SVG."""
    return f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{colour}">{escape(words)}</text>'


def picture(width: int, height: int, parts: list[str], title: str) -> str:
    """Return a whole SVG file."""
    arrow = (
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="4" refY="7" orient="0">'
        f'<path d="M0,0 L8,0 L4,8 z" fill="{LINE}"/></marker></defs>'
    )
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'{FONT} role="img" aria-label="{escape(title)}">\n<rect width="{width}" height="{height}" fill="white"/>\n'
        f"{arrow}\n{inside}\n</svg>\n"
    )


def layer_picture() -> str:
    """Return the layers as one stack: what stands higher may import what stands lower."""
    order = layers()
    width, row, top = 860, 27, 44
    parts = [text(16, 26, "A layer imports only layers that stand below it", 15, "bold")]
    y = top
    for group, members in GROUPS.items():
        own = [layer for layer in order if layer in members]
        height = row * len(own) + 10
        parts.append(f'<rect x="12" y="{y}" width="{width - 24}" height="{height}" rx="6" fill="{FILL}"/>')
        parts.append(
            f'<text x="{width - 22}" y="{y + 18}" font-size="12" fill="{LINE}" text-anchor="end">{escape(group)}</text>'
        )
        for k, layer in enumerate(own):
            parts.append(text(26, y + 23 + k * row, f"{layer}/", 14, "bold"))
            parts.append(
                text(
                    130, y + 23 + k * row, textwrap.shorten(about(layer), 110, placeholder=" ...").replace("`", ""), 13
                )
            )
        y += height + 8
    drawn = [layer for members in GROUPS.values() for layer in members]
    if sorted(drawn) != sorted(order):
        raise SystemExit(f"layers drawn and layers of the contract differ: {sorted(set(drawn) ^ set(order))}")
    return picture(width, y + 6, parts, "The layers of the package")


def walk_picture(title: str, steps: tuple[Step, ...]) -> str:
    """Return a walk: one box per function, from top to bottom, with what goes from one to the next."""
    check_steps(steps)
    width, box, gap, top = 860, 46, 30, 44
    parts = [text(16, 26, title, 15, "bold")]
    for k, step in enumerate(steps):
        y = top + k * (box + gap)
        module, _, name = step.place.partition(":")
        parts.append(f'<rect x="12" y="{y}" width="{width - 24}" height="{box}" rx="6" fill="{STEP}" stroke="{LINE}"/>')
        parts.append(text(26, y + 19, name, 14, "bold"))
        parts.append(
            f'<text x="{width - 26}" y="{y + 19}" font-size="12" fill="{LINE}" text-anchor="end">'
            f"{escape(module.replace('.', '/'))}.py</text>"
        )
        parts.append(text(26, y + 37, step.does))
        if k + 1 < len(steps):
            end = y + box + gap
            parts.append(
                f'<line x1="40" y1="{y + box}" x2="40" y2="{end - 6}" stroke="{LINE}" stroke-width="1.5" '
                'marker-end="url(#head)"/>'
            )
        if step.hands_on:
            parts.append(text(56, y + box + 20, step.hands_on, 12, colour="#4a6076"))
    return picture(width, top + len(steps) * (box + gap), parts, title)


def main() -> int:
    """Write the pictures, or say which would change."""
    pictures = {
        "layers.svg": layer_picture(),
        "walk_compile.svg": walk_picture('bt.compile("ur5").save("ur5.bdt"), from call to file', COMPILE),
        "walk_torque.svg": walk_picture("model.torque_words(q, qd, qdd), from call to kernel", TORQUE),
    }
    stale = [name for name, svg in pictures.items() if not (HERE / name).exists() or (HERE / name).read_text() != svg]
    if "--check" in sys.argv:
        for name in stale:
            sys.stderr.write(f"docs/images/{name} is out of date: run python docs/images/draw.py\n")
        return 1 if stale else 0
    for name in stale:
        (HERE / name).write_text(pictures[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
