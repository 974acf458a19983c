"""`Lemma`: one step of a proof for Gappa; `Prover`: has Gappa take the steps, one after the other.

A fact is an expression in Gappa's syntax and an interval that holds it. A lemma says from which facts which others
follow. Facts come from the *premises*, which whoever writes a proof states with a reason, and from Gappa's answers;
there is no other way to know one.

Names in expressions: `floor` rounds down to an integer; `half_even` to the nearest integer, ties to even; `rnd` to the
nearest float, ties to even.

`proof_script`: all lemmas of a proof as one shell script, which needs Gappa and awk but nothing of bddtorque.

Before Gappa proves the lemmas one by one, awk reads the script itself and checks that they are a chain:

- each hypothesis of a lemma is, as text, a premise listed at the top or what an earlier lemma concludes;
- a name has one definition, the same in all lemmas, and is not used before it;
- each claim listed at the top is what some lemma concludes;
- a rewriting with a square root is |x| = sqrt(x * x).
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from shutil import which

from bddtorque.base.errors import BddTorqueError, one_line

PRECISION = 120
"""Bits of Gappa's interval ends: constants that nearly cancel keep enough of them."""
THRESHOLD = 1e-6
"""Gappa forgets improvements below this share of an interval."""
KEPT_BITS = 60
"""Bits of the interval ends that go from one lemma to the next, rounded outward."""
OPTIONS = (f"-Eprecision={PRECISION}", f"-Echange-threshold={THRESHOLD:f}")
MAX_SECONDS = 120.0
"""For one lemma, of which each takes milliseconds: a Gappa that hangs must not hang everything."""
_RESULT = re.compile(r"^  (\w+) in \[([^\]]*)\]$", re.MULTILINE)
_END = re.compile(r"(-?\d+)(?:b(-?\d+))?")
UNPROVED, ROOT = "are not trivially equal", " and sqrt("
"""Gappa's words on a rewriting that is no identity of polynomials, and the part of them for |x| = √(x·x)."""
_UNPROVED = re.compile(rf"^Warning: (.*) {UNPROVED}\.$", re.MULTILINE)


@dataclass(frozen=True)
class Ends:
    """A closed interval of rational numbers."""

    low: Fraction
    high: Fraction

    @property
    def magnitude(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def short(self) -> Ends:
        """Return an interval that holds this one, with ends of few bits."""
        return Ends(-_rounded_up(-self.low), _rounded_up(self.high))

    def __str__(self) -> str:
        return f"[{number(self.low)}, {number(self.high)}]"


def around(most: Fraction | int) -> Ends:
    """Return all numbers of at most a magnitude."""
    return Ends(-Fraction(most), Fraction(most))


def _rounded_up(value: Fraction) -> Fraction:
    if not value:
        return value
    step = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - KEPT_BITS)
    return math.ceil(value / step) * step


def number(value: Fraction | int) -> str:
    """Return a rational number in Gappa's syntax, exactly."""
    value = Fraction(value)
    bits = value.denominator.bit_length() - 1
    if value.denominator == 1:
        return str(value.numerator)
    if value.denominator == 1 << bits:
        return f"{value.numerator}b-{bits}"
    return f"({value.numerator} / {value.denominator})"


@dataclass(frozen=True)
class Hint:
    """left = right: Gappa may rewrite the one as the other.

    Both sides are equal as polynomials, which Gappa checks. The one exception is |x| = √(x·x), which it takes as it is.
    """

    left: str
    right: str

    @property
    def is_root(self) -> bool:
        """True if this is |x| = √(x·x)."""
        x = self.left.strip("|")
        return (self.left, self.right) == (f"|{x}|", f"sqrt({x} * {x})")


@dataclass(frozen=True)
class Lemma:
    """Facts that follow from others."""

    name: str  # unique in a proof
    about: str  # one line for readers
    premises: tuple[str, ...]  # expressions whose intervals are known
    goals: tuple[str, ...]  # expressions whose intervals are asked for
    definitions: tuple[tuple[str, str], ...] = ()  # (name, expression) of what is new, each in names before it
    hints: tuple[Hint, ...] = ()  # rewritings that show the way

    @property
    def title(self) -> str:
        """The name of the lemma in messages."""
        return f"lemma {self.name} ({one_line(self.about):.60})"

    def script(self, known: Mapping[str, Ends], float_format: str, answered: bool) -> str:
        """Return the lemma as a script for Gappa; its goals are questions, or stand with their answers."""
        names = {goal: name for name, goal in self.goal_names()}
        lines = [f"# {self.name}: {one_line(self.about)}", "@floor = fixed<0,dn>;", "@half_even = fixed<0,ne>;"]
        lines.append(f"@rnd = float<{float_format},ne>;")
        lines += [f"{name} = {expression};" for name, expression in self.definitions]
        lines += [f"{name} = {goal};" for goal, name in names.items() if name != goal]
        premises = "\n/\\ ".join(f"{each} in {known[each]}" for each in dict.fromkeys(self.premises))
        goals = "\n/\\ ".join(f"{name} in {known[goal] if answered else '?'}" for goal, name in names.items())
        lines += [f"{{ {premises}\n-> {goals} }}" if premises else f"{{ {goals} }}"]
        lines += [f"{hint.left} -> {hint.right};" for hint in dict.fromkeys(self.hints)]
        return "\n".join(lines) + "\n"

    def goal_names(self) -> list[tuple[str, str]]:
        """Return a name for every goal, under which Gappa answers, and the goal."""
        goals = dict.fromkeys(self.goals)
        return [(goal if goal.isidentifier() else f"goal{k}", goal) for k, goal in enumerate(goals)]


class GappaToolError(BddTorqueError):
    """Gappa is missing or does not work, which says nothing about a model."""


def find_gappa() -> str:
    """Return the path of Gappa; where there is none, or none that runs, say what to install."""
    path = which("gappa")
    if path is None:
        raise GappaToolError("Gappa was not found on PATH: install it, on Debian and Ubuntu by 'apt install gappa'")
    try:
        done = _call([path, "--version"], "")
    except subprocess.TimeoutExpired:
        raise _broken(path, "'gappa --version' does not end") from None
    if done.returncode or not done.stdout.startswith("Gappa "):
        raise _broken(path, f"'gappa --version' has exit code {done.returncode} and prints {done.stdout[:40]!r}")
    return path


def _call(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, errors="replace", timeout=MAX_SECONDS, check=False
        )
    except OSError as problem:
        raise _broken(command[0], problem.strerror or str(problem)) from None


def _broken(path: str, why: str) -> GappaToolError:
    return GappaToolError(f"{path:.200} is not a working Gappa ({why:.120}): install Gappa 1.4, or correct PATH")


@dataclass
class Prover:
    """Keeps what is known and asks Gappa for more."""

    float_format: str = "ieee_32"  # what `rnd` rounds to, by Gappa's name
    known: dict[str, Ends] = field(default_factory=dict)  # interval of every fact
    reasons: dict[str, str] = field(default_factory=dict)  # of every premise, why it is true
    lemmas: list[Lemma] = field(default_factory=list)  # those that Gappa has proved, in their order
    on_lemma: Callable[[Lemma], None] | None = None  # called with every lemma that is closed
    path: str = field(default_factory=find_gappa)

    def state(self, expression: str, ends: Ends, reason: str) -> None:
        """Take a fact as a premise of the whole proof."""
        self.known[expression], self.reasons[expression] = ends.short(), reason

    def prove(self, lemma: Lemma) -> None:
        """Have Gappa prove a lemma and keep what it finds; refuse one that it does not close."""
        done = self.run(lemma, False)
        output = done.stdout + done.stderr
        found = {name: _interval(text) for name, text in _RESULT.findall(output)}
        goals = dict(lemma.goal_names())
        unproved = [said for said in _UNPROVED.findall(output) if ROOT not in said]
        unproved += [hint.right for hint in lemma.hints if "sqrt" in hint.right and not hint.is_root]
        if found.keys() != goals.keys() or unproved:
            trouble = "Gappa does not see that a rewriting is an identity" if unproved else "Gappa does not close it"
            raise BddTorqueError(f"{lemma.title}: {trouble}")
        self.known.update({goals[name]: ends.short() for name, ends in found.items()})
        self.lemmas.append(lemma)
        if self.on_lemma is not None:
            self.on_lemma(lemma)

    def script(self, lemma: Lemma) -> str:
        """Return a lemma that was proved as a script with its answers."""
        return lemma.script(self.known, self.float_format, answered=True)

    def holds(self, lemma: Lemma) -> bool:
        """Tell if Gappa proves a lemma with the answers as they were kept."""
        return not self.run(lemma, True).returncode

    def run(self, lemma: Lemma, answered: bool, *options: str) -> subprocess.CompletedProcess[str]:
        """Return what Gappa says of a lemma; its exit code is 1 if something in there is not proved."""
        script = lemma.script(self.known, self.float_format, answered)
        try:
            done = _call([self.path, *OPTIONS, *options], script)
        except subprocess.TimeoutExpired:
            raise BddTorqueError(f"{lemma.title}: Gappa does not close it within {MAX_SECONDS:.0f} s") from None
        if done.returncode not in (0, 1):  # killed, or not Gappa
            raise _broken(self.path, f"it ended with exit code {done.returncode} on lemma {lemma.name}")
        return done


def _interval(text: str) -> Ends:
    """Return an interval as Gappa prints it: ``-5b-3 {-0.625, ...}, 7``; one number stands for both ends."""
    plain = re.sub(r"\{[^}]*\}", "", text)
    ends = []
    for each in plain.split(","):
        match = _END.fullmatch(each.strip())
        if match is None:
            raise BddTorqueError(f"gappa: an interval was expected, got '{text:.60}'")
        ends.append(Fraction(int(match[1])) * Fraction(2) ** int(match[2] or 0))
    return Ends(ends[0], ends[-1])


def total(terms: Iterable[str]) -> str:
    """Return a sum in brackets; 0 if it has no terms."""
    joined = " + ".join(terms)
    return f"({joined})" if joined else "0"


def packaged(name: str) -> str:
    """Return a text in the language of a prover, or of awk, from the folder `templates`."""
    return (Path(__file__).with_name("templates") / name).read_text(encoding="utf-8")


def proof_script(name: str, digest: str, prover: Prover, outputs: Sequence[tuple[str, float, str | None]]) -> str:
    """Return all lemmas of a model as one shell script, which runs `gappa` on each and says whether all hold.

    The prover has proved them; `outputs`: of each its name, its bound, and the expression of its error if it has one.
    """
    count = len(prover.lemmas)
    lines = [
        "#!/bin/sh",
        f"# {one_line(name)}: {count} lemmas; 'sh FILE' has gappa prove every one of them again.",
        f"# digest of the model: {digest}",
        "#",
        "# All follows from these facts, which are not proved here.",
        "# Premises:",
        *(f"#   {fact} in {prover.known[fact]}    {one_line(why)}" for fact, why in prover.reasons.items()),
        "#",
        "# Every output word, before it is clamped, is this close to the function that was planned, in units.",
        "# Claims:",
        *(
            f"#   {error} in {prover.known[error]}    {one_line(output)}: at most {bound!r}"
            for output, bound, error in outputs
            if error is not None
        ),
        "#",
        *(f"# {one_line(output)} has no error." for output, _, error in outputs if error is None),
        "",
        "LC_ALL=C",
        "export LC_ALL",
        "gappa --version >/dev/null 2>&1 || { echo 'gappa was not found on PATH, or does not run'; exit 2; }",
        "awk 'BEGIN { exit 0 }' </dev/null >/dev/null 2>&1 || { echo 'awk was not found on PATH'; exit 2; }",
        '[ -f "$0" ] && [ -r "$0" ] || { echo "run this script by its name: \'sh FILE\'"; exit 2; }',
        "",
        "# The lemmas are a chain: each hypothesis is a premise or what an earlier lemma concludes, as text; each",
        "# name has one definition; each claim is a conclusion.",
        f"awk -v expected={count} '\n{packaged('chain.awk')}' <\"$0\" || exit 1",
        "",
        "# Gappa only warns of a rewriting that is no identity of polynomials. Here such a lemma fails, unless the",
        "# rewriting is |x| = sqrt(x * x).",
        "prove() {",
        f'    said=$(gappa {" ".join(OPTIONS)} 2>&1) || {{ echo "$1 fails"; exit 1; }}',
        f"    printf '%s\\n' \"$said\" | awk '/{UNPROVED}/ && !index($0, \"{ROOT}\") {{ exit 1 }}' ||",
        '        { echo "$1: a rewriting is no identity"; exit 1; }',
        "}",
    ]
    for lemma in prover.lemmas:
        lines += [f"prove {lemma.name} <<'END'", prover.script(lemma) + "END"]
    return "\n".join([*lines, f"echo '{count} lemmas hold'", ""])
