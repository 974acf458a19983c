"""The options of ``bddtorque sweep``: those that several commands take, two of them in words of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from bddtorque.cli.options import DaskOption, EngineOption, JsonOption, cluster, read_word_lengths

__all__ = [
    "DaskOption",
    "EngineOption",
    "JsonOption",
    "NoCacheOption",
    "WorkersOption",
    "cluster",
    "read_word_lengths",
]

WorkersOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Threads that measure, processes that compile; all processors unless given."),
]
NoCacheOption = Annotated[
    bool, typer.Option("--no-cache", help="Neither read nor keep what was found, nor finished blocks.")
]
