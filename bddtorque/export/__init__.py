"""A compiled model as C99 source code for other processors: `export_c`.

names     what robots and joints are called, made safe
ranges    how large every word can get: types, and no overflow
text      numbers, arrays and lines as C writes them
helpers   the few functions that generated code is written with
blocks    tables in their forms
steps     the wires of a plan as statements
source, header, floats, selftest    the files
folder    writes them, whole or not at all
measuring what a compiler makes of them
exporter  `export_c`, which puts all of it together
"""

from bddtorque.export.exporter import Exported, export_c

__all__ = ["Exported", "export_c"]
