// What words stand for; docs/format.md has the formulas.

/** Return the value at the joint of a word. */
function valueOf(format, word) {
  return format.sign * (format.centre + held(word, format.bits, format.wraps, format.signed) * format.lsb) + format.offset;
}

/** Return a value at the joint in units of the word's last bit, neither rounded nor clamped. */
function unitsOf(format, value) {
  return (format.sign * (value - format.offset) - format.centre) / format.lsb;
}

function lowestWord(format) {
  return format.signed ? -(2 ** (format.bits - 1)) : 0;
}

function highestWord(format) {
  return lowestWord(format) + 2 ** format.bits - 1;
}

function clampedUnits(format, units) {
  return Math.min(Math.max(units, lowestWord(format)), highestWord(format));
}

/** Return numbers with about so many digits, for people: no exponent where none is needed, a true minus. */
function shown(value, digits = 4) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  const places = size === 0 ? digits - 1 : Math.max(0, Math.min(9, digits - 1 - Math.floor(Math.log10(size))));
  return value.toFixed(Math.min(places, digits + 1)).replace("-", "−");
}

/** Return a number with its unit, if it has one. */
function withUnit(value, unit) {
  return unit ? `${shown(value)} ${unit}` : shown(value);
}
