// A plan in floats, run in the page: every operation rounded once, as the plan has it. Numbers of JavaScript are float64;
// a sum or product of two float32 that is rounded to float64 first and to float32 then is rounded as if once.

const both = new DataView(new ArrayBuffer(8));

/** Return a + b rounded, and what the rounding left. */
function exactSum(a, b) {
  const total = a + b;
  const back = total - a;
  return [total, a - (total - back) + (b - back)];
}

/** Return a + b rounded to odd: exact, or the neighbour whose last bit is set. */
function sumToOdd(a, b) {
  const [total, rest] = exactSum(a, b);
  if (rest === 0) return total;
  both.setFloat64(0, total);
  const bits = both.getBigInt64(0);
  if (bits & 1n) return total;
  both.setBigInt64(0, rest > 0 === total > 0 ? bits + 1n : bits - 1n);
  return both.getFloat64(0);
}

/** Return a·b + c of float32, rounded once: the product is exact, and a sum rounded to odd may be rounded again. */
function fusedSingle(a, b, c) {
  return Math.fround(sumToOdd(a * b, c));
}

/** Return the two halves of a float64 (Veltkamp). */
function split(a) {
  const scaled = 134217729 * a;
  const high = scaled - (scaled - a);
  return [high, a - high];
}

function safe(a) {
  const size = Math.abs(a);
  return size === 0 || (size >= 2 ** -400 && size <= 2 ** 400);
}

/** Return a·b + c of float64, rounded once (Boldo and Melquiond 2008). */
function fusedDouble(a, b, c) {
  if (!safe(a) || !safe(b) || !safe(c)) return fusedExactly(a, b, c);
  const product = a * b;
  const [aHigh, aLow] = split(a);
  const [bHigh, bLow] = split(b);
  const low = aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
  const [upper, lower] = exactSum(c, low);
  const [total, rest] = exactSum(product, upper);
  return total + sumToOdd(lower, rest);
}

/** Return a float64 as a whole number and the power of 2 that it is multiplied by. */
function parts(a) {
  both.setFloat64(0, a);
  const bits = both.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 2047n);
  const whole = (bits & (2n ** 52n - 1n)) + (exponent ? 2n ** 52n : 0n);
  return [a < 0 ? -whole : whole, Math.max(exponent, 1) - 1075];
}

/** The same for numbers so large or small that sums and products of them may not be exact. */
function fusedExactly(a, b, c) {
  const [[x, xPower], [y, yPower], [z, zPower]] = [parts(a), parts(b), parts(c)];
  const power = Math.min(xPower + yPower, zPower);
  const sum = ((x * y) << BigInt(xPower + yPower - power)) + (z << BigInt(zPower - power));
  const size = sum < 0n ? -sum : sum;
  const shift = Math.max(size.toString(2).length - 53, -1074 - power, 0);
  const unit = 1n << BigInt(shift);
  const twice = 2n * (size % unit);
  let whole = size / unit;
  if (twice > unit || (twice === unit && whole & 1n)) whole += 1n;
  const place = power + shift; // in two steps, as a power of 2 alone may be beyond a float64
  const found = Number(whole) * 2 ** Math.max(place, -1000) * 2 ** Math.min(place + 1000, 0);
  return sum < 0n ? -found : found;
}

/** Return the nearest whole number, ties to even. */
function toEven(x) {
  return x + 1.5 * 2 ** 52 - 1.5 * 2 ** 52;
}

/** Return a function of all values so far that makes the sine or cosine of an angle word; docs/format.md has the steps. */
function sineOf(word, cosine, bits, grid, turn, factors, rounding, fused) {
  const scale = 2 ** (2 - grid);
  const wide = BigInt(grid) > 50n;
  const half = wide ? 2n ** BigInt(grid - 1) : 2 ** (grid - 1);
  const quarter = wide ? half / 2n : half / 2;
  const start = wide ? BigInt(turn) : Number(turn);
  const step = wide ? 2n ** BigInt(grid - bits) : 2 ** (grid - bits);
  return (values) => {
    const angle = wide
      ? BigInt.asIntN(grid, BigInt(values[word]) * step + start)
      : wrapped(values[word] * step + start, grid);
    let units;
    if (cosine) units = quarter - (angle < 0 ? -angle : angle);
    else units = angle > quarter ? half - angle : angle < -quarter ? -half - angle : angle;
    const x = rounding(Number(units)) * scale;
    const z = rounding(x * x);
    let total = factors[factors.length - 1];
    for (let k = factors.length - 2; k >= 0; k--) total = fused(total, z, factors[k]);
    return fused(x, total, x);
  };
}

/** Return a function of all values so far that makes the float of one wire; words are made as in any plan. */
function floatStepOf(wire, data, tables, inputs) {
  const single = data.precision === "single";
  const rounding = single ? Math.fround : (x) => x;
  const fused = single ? fusedSingle : fusedDouble;
  const [kind, ...rest] = wire;
  switch (kind) {
    case "number": {
      const [word] = rest;
      return (values) => values[word];
    }
    case "constant":
      return () => rest[0];
    case "sine":
      return sineOf(...rest, data.factors, rounding, fused);
    case "add": {
      const [left, right, sign] = rest;
      return (values) => rounding(values[left] + sign * values[right]);
    }
    case "multiply": {
      const [left, right] = rest;
      return (values) => rounding(values[left] * values[right]);
    }
    case "fused": {
      const [left, right, addend, productSign, addendSign] = rest;
      return (values) => fused(productSign * values[left], values[right], addendSign * values[addend]);
    }
    default:
      return stepOf(wire, tables, inputs);
  }
}
