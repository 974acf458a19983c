"""`Stored`: what a compiled robot and a compiled function have in common: digests, a file, and figures of size."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from os import PathLike
from typing import Any

from bddtorque.diagrams.bdd import Diagram
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table


class Stored:
    """A plan with one table and one diagram a block, as a .bdt file holds it."""

    plan: Plan
    tables: tuple[Table, ...]
    diagrams: tuple[Diagram, ...]

    def defining(self) -> dict[str, Any]:
        """Return all that the digest covers as plain data; each kind of model has its own."""
        raise NotImplementedError

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what was compiled, the same whichever engine reduced the diagrams."""
        text = json.dumps(self.defining(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def diagram_digest(self) -> str:
        """SHA-256 of the diagrams, the same for one engine and version."""
        return hashlib.sha256("".join(diagram.content_key for diagram in self.diagrams).encode()).hexdigest()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one .bdt file, whole or not at all."""
        from bddtorque.model.bdt_file import save  # noqa: PLC0415 - the file format knows the models, not the reverse

        save(self, path)

    def sizes(self) -> dict[str, Any]:
        """Return counts of the plan, nodes of the diagrams, and bytes."""
        return {
            **self.plan.counts(),
            "nodes": sum(diagram.node_count for diagram in self.diagrams),
            "table_bytes": sum(table.values.nbytes for table in self.tables),
            "diagram_bytes": sum(diagram.bytes for diagram in self.diagrams),
        }
