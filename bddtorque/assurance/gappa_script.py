"""All lemmas of a proof as one shell script, which needs Gappa and awk but nothing of bddtorque.

Before Gappa proves the lemmas one by one, awk reads the script itself and checks that they are a chain:

- each hypothesis of a lemma is, as text, a premise listed at the top or what an earlier lemma concludes;
- a name has one definition, the same in all lemmas, and is not used before it;
- each claim listed at the top is what some lemma concludes;
- a rewriting with a square root is |x| = sqrt(x * x).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bddtorque.assurance.lemmas import OPTIONS, ROOT, UNPROVED, Prover
from bddtorque.base.errors import one_line

_CHAIN = r"""
function fail(why) { print lemma ": " why; failed = 1; exit 1 }
function use(text,  names, n, k) {
    n = split(text, names, /[^A-Za-z0-9_]+/)
    for (k = 1; k <= n; k++) used[names[k]] = 1
}
function fact(  text) {  # of a line of the premises or claims at the top, without its reason
    text = substr($0, 5)
    return substr(text, 1, index(text "    ", "    ") - 1)
}
function define(name, text) {
    if (text ~ /goal/) fail(name " is defined by a goal")
    use(text)
    if (name ~ /^goal[0-9]+$/) { goals[name] = text; return }
    if (name in defined && defined[name] != text) fail(name " has two definitions")
    if (!(name in defined) && name in used) fail(name " is used before its definition")
    defined[name] = text
    use(name)
}
function conclude(text,  at, name) {
    at = index(text, " in [")
    name = substr(text, 1, at - 1)
    if (name !~ /^[A-Za-z][A-Za-z0-9_]*$/) fail("a conclusion has no name: " text)
    known[(name in goals ? goals[name] : name) substr(text, at)] = 1
    use(name)
}
function statement(  first, k) {  # hypotheses come before the arrow; without an arrow there are none
    first = arrow ? arrow : 1
    for (k = 1; k < first; k++) if (!(facts[k] in known)) fail("neither a premise nor proved before: " facts[k])
    for (k = first; k <= count; k++) conclude(facts[k])
}
function rewriting(  x) {
    if (!index($0, "sqrt")) return
    x = substr($0, 2, index($0, "| -> ") - 2)
    if ($0 != "|" x "| -> sqrt(" x " * " x ");") fail("not of the form |x| -> sqrt(x * x): " $0)
}
$0 == "# Premises:" { top = "premises"; next }
$0 == "# Claims:" { top = "claims"; next }
top && /^#   / { if (top == "premises") { known[fact()] = 1; use(fact()) } else claimed[fact()] = 1; next }
top { top = "" }
/^prove [a-z0-9_]+ <</ {
    lemma = $2; lemmas++; open = 1; inside = count = arrow = 0
    split("", goals)
    next
}
!open || /^#/ { next }
$0 == "END" { open = 0; next }
substr($0, 1, 2) == "{ " { inside = 1; count = arrow = 0 }
inside {
    start = substr($0, 1, 2)
    if (start == "->") arrow = count + 1
    text = substr($0, start == "{ " ? 3 : 4)
    if (substr(text, length(text) - 1) == " }") { inside = 0; text = substr(text, 1, length(text) - 2) }
    facts[++count] = text
    if (!inside) statement()
    next
}
/^@?[A-Za-z][A-Za-z0-9_]* = .*;$/ { define($1, substr($0, length($1) + 4, length($0) - length($1) - 4)); next }
/ -> .*;$/ { rewriting(); next }
{ fail("not part of a lemma: " $0) }
END {
    if (failed) exit 1
    lemma = "claims"
    for (text in claimed) if (!(text in known)) fail("not proved: " text)
    if (lemmas != expected) fail(expected " lemmas were expected, got " lemmas + 0)
}
"""


class _Bound(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def gappa(self) -> float: ...


def proof_script(name: str, digest: str, prover: Prover, bounds: Sequence[_Bound], errors: Sequence[str | None]) -> str:
    """Return all lemmas as one shell script, which runs `gappa` on each and says whether all hold.

    Parameters
    ----------
    name, digest
        Of the model.
    prover
        After its lemmas were proved.
    bounds
        What was proved of each output.
    errors
        Of each output the expression of its error; None of one that has none.
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
            f"#   {error} in {prover.known[error]}    {one_line(bound.name)}: at most {bound.gappa!r}"
            for bound, error in zip(bounds, errors, strict=True)
            if error is not None
        ),
        "#",
        *(
            f"# {one_line(bound.name)} has no error."
            for bound, error in zip(bounds, errors, strict=True)
            if error is None
        ),
        "",
        "LC_ALL=C",
        "export LC_ALL",
        "gappa --version >/dev/null 2>&1 || { echo 'gappa was not found on PATH, or does not run'; exit 2; }",
        "awk 'BEGIN { exit 0 }' </dev/null >/dev/null 2>&1 || { echo 'awk was not found on PATH'; exit 2; }",
        '[ -f "$0" ] && [ -r "$0" ] || { echo "run this script by its name: \'sh FILE\'"; exit 2; }',
        "",
        "# The lemmas are a chain: each hypothesis is a premise or what an earlier lemma concludes, as text; each",
        "# name has one definition; each claim is a conclusion.",
        f"awk -v expected={count} '{_CHAIN}' <\"$0\" || exit 1",
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
