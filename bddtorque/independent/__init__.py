"""A checker of .bdt files that shares no code with the compiler.

It shares no code with the compiler: the standard library and NumPy are all that it imports, so that this folder can be
copied anywhere and run there (``python -m independent FILE``). docs/independent.md says what is proved, and how.
"""

from .checker import check_bytes, check_file
from .findings import Finding

__all__ = ["Finding", "check_bytes", "check_file"]
