"""A checker of .bdt files that shares no code with the compiler.

It shares no code with the compiler: the standard library and NumPy are all that it imports, so that this folder can be
copied anywhere and run there (``python -m independent FILE``). docs/independent.md says what is proved, and how.

Names are loaded when first used, so that Ctrl-C while NumPy is imported ends the command in one line too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checker import check_bytes, check_file
    from .findings import Finding

__all__ = ["Finding", "check_bytes", "check_file"]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that defines it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".findings" if name == "Finding" else ".checker", __name__), name)
