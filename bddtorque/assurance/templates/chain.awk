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
