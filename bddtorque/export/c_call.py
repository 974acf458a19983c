"""How a folder of C is called: its manifest says so, and a program that calls it is written from that."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.export.template_files import fill, template

MANIFEST = "bddtorque-export.json"
"""Lists the files of a folder of generated C, and says how it is called."""
AVR_MAIN = """
int main(void)
{
    __asm__ volatile (".global mark\\n.set mark, %0" :: "n" (_SFR_MEM_ADDR(GPIOR0))); /* where the emulator looks */
    for (;;) { GPIOR0 = 1; call(); GPIOR0 = 2; }
}
"""


@dataclass(frozen=True)
class CCall:
    """The function of a folder, and one call of it from words to words."""

    header: str  # declares the function
    sources: tuple[str, ...]  # what is compiled
    prototype: str  # of the function, as the header has it
    statement: str  # a call that reads `in` and writes `out`, arrays of words
    # inputs, outputs: words of these
    inputs: int
    outputs: int
    word: str = "int32_t"  # the C type of a word

    @property
    def dtype(self) -> str:
        """What NumPy calls a word, least significant byte first."""
        return "<i2" if self.word == "int16_t" else "<i4"

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for a manifest, under its key ``call``."""
        return asdict(self)

    @classmethod
    def read(cls, folder: Path) -> CCall:
        """Return what the manifest of a folder says."""
        try:
            plain = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["call"]
            return cls(**{**plain, "sources": tuple(plain["sources"])})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise BddTorqueError(
                one_line(
                    f"{folder}: there must be a {MANIFEST} with the key 'call', as bddtorque export writes ({problem})"
                )
            ) from None

    def call_text(self) -> str:
        """Return a function ``call`` that calls it with the words of arrays."""
        return fill(
            template("call.c"),
            header=self.header,
            word=self.word,
            inputs=self.inputs,
            outputs=self.outputs,
            statement=self.statement,
        )

    def main_text(self, avr: bool) -> str:
        """Return a program that calls the function for ever; on AVR each call stands between two marks."""
        text = self.call_text()
        if avr:
            return f"#include <avr/io.h>\n{text}{AVR_MAIN}"
        return f"{text}\nvoid _start(void) {{ for (;;) call(); }}\n"

    def stub_text(self) -> str:
        """Return a function that does nothing, so that what is around it can be told apart."""
        return f'#include "{self.header}"\n\n{self.prototype}\n{{\n    return 0;\n}}\n'
