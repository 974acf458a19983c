// The plan, run in the page over the compiled tables: input words in, output words out, bit for bit as every evaluator gives
// them. Ordinary numbers are exact up to 2^53; steps that may get beyond are marked wide and counted in BigInt.

const EXACT = 2 ** 53;

/** Return the bytes that a text in base 64 stands for. */
function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

/** Return deflated bytes as they were. */
async function inflated(bytes) {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack the tables");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Return the words of a packed table; `report/packing.py` says how it was made small. */
async function unpackedTable(table) {
  const bytes = await inflated(bytesOf(table.data));
  const words = new Int32Array(table.rows);
  for (let row = 0; row < table.rows; row++) {
    let folded = 0;
    for (let plane = 0; plane < table.planes; plane++) folded |= bytes[plane * table.rows + row] << (8 * plane);
    words[row] = (folded >>> 1) ^ -(folded & 1);
  }
  for (let k = 0; k < table.differences; k++) {
    for (let row = 1; row < table.rows; row++) words[row] = (words[row] + words[row - 1]) | 0;
  }
  return words;
}

/** Return the SHA-256 of a table as docs/format.md has it, or null where the browser offers none. */
async function tableKey(table, words) {
  if (!globalThis.crypto || !crypto.subtle) return null;
  const head = new TextEncoder().encode(`table:${table.widths.join(",")}:${table.bits}:${Number(table.signed)}:`);
  const entries = { 1: Int8Array, 2: Int16Array, 4: Int32Array }[table.bytes].from(words);
  const all = new Uint8Array(head.length + entries.byteLength);
  all.set(head);
  all.set(new Uint8Array(entries.buffer), head.length);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", all));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return floor(total / 2^shift + 1/2); both numbers and all on the way are exact. */
function rounded(total, shift) {
  return shift ? Math.floor((total + 2 ** (shift - 1)) / 2 ** shift) : total;
}

/** The same in BigInt; an ordinary number again where that is exact. */
function roundedWide(total, shift) {
  const word = shift ? (total + (1n << BigInt(shift - 1))) >> BigInt(shift) : total;
  return word < BigInt(EXACT) && word > -BigInt(EXACT) ? Number(word) : word;
}

/** Return a whole number brought to a two's complement word of so many bits. */
function wrapped(word, bits) {
  const turn = 2 ** bits;
  const rest = word - turn * Math.floor(word / turn);
  return rest >= turn / 2 ? rest - turn : rest;
}

/** Return a whole number as an input holds it: an angle goes round, anything else stops at the ends. */
function held(word, bits, wraps, signed) {
  const lowest = signed ? -(2 ** (bits - 1)) : 0;
  return wraps ? wrapped(word, bits) : Math.min(Math.max(word, lowest), lowest + 2 ** bits - 1);
}

/** Return the low bits of a word, as a part of a table's index. */
function lowBits(word, width) {
  return typeof word === "bigint" ? Number(BigInt.asUintN(width, word)) : word & (2 ** width - 1);
}

/** Return a function of all words so far that adds up what a sum asks for. */
function summing(wide, shift, constant, parts) {
  const wires = parts.map((part) => part[0]);
  const count = wires.length;
  if (wide) {
    const first = BigInt(constant);
    const factors = parts.map((part) => BigInt(part[1]));
    return (words) => {
      let total = first;
      for (let k = 0; k < count; k++) total += factors[k] * BigInt(words[wires[k]]);
      return roundedWide(total, shift);
    };
  }
  const factors = parts.map((part) => part[1]);
  return (words) => {
    let total = constant;
    for (let k = 0; k < count; k++) total += factors[k] * words[wires[k]];
    return rounded(total, shift);
  };
}

/** Return a function of all words so far that takes a product the way the plan says: as it is, or from its table. */
function multiplying(wide, method, left, right, shift, table, widths, limbBits) {
  if (method === "native") {
    if (wide) return (words) => roundedWide(BigInt(words[left]) * BigInt(words[right]), shift);
    return (words) => rounded(words[left] * words[right], shift);
  }
  if (method === "blocks") {
    return (words) => table[lowBits(words[left], widths[0]) * 2 ** widths[1] + lowBits(words[right], widths[1])];
  }
  if (method === "squares") {
    // ab = floor((a+b)²/4) − floor((a−b)²/4): two entries of one table
    return (words) => {
      const plus = table[lowBits(words[left] + words[right], widths[0])];
      return rounded(plus - table[lowBits(words[left] - words[right], widths[0])], shift);
    };
  }
  return byLimbs(wide, left, right, shift, table, limbBits);
}

/** Magnitudes piece by piece from one table of unsigned products, then the sign. */
function byLimbs(wide, left, right, shift, table, limbBits) {
  const size = 2 ** limbBits;
  return (words) => {
    const a = words[left];
    const b = words[right];
    let total = wide ? 0n : 0;
    for (let high = 0, x = magnitude(a); x > 0; high += limbBits, x = Math.floor(x / size)) {
      for (let low = 0, y = magnitude(b); y > 0; low += limbBits, y = Math.floor(y / size)) {
        const piece = table[(x % size) * size + (y % size)];
        total += wide ? BigInt(piece) << BigInt(high + low) : piece * 2 ** (high + low);
      }
    }
    if (a < 0 !== b < 0) total = -total;
    return wide ? roundedWide(total, shift) : rounded(total, shift);
  };
}

function magnitude(word) {
  if (typeof word === "bigint") throw new RangeError("a factor of at most 53 bits required");
  return Math.abs(word);
}

/** Return a function of all words so far that makes the word of one wire. */
function stepOf(wire, tables, inputs) {
  const [kind, ...rest] = wire;
  switch (kind) {
    case "input": {
      const [place, bits, wraps, signed] = rest;
      return () => held(inputs.words[place], bits, wraps, signed);
    }
    case "angle": {
      const [wide, bits, constant, parts] = rest;
      const total = summing(wide, 0, constant, parts);
      if (wide) return (found) => Number(BigInt.asIntN(bits, BigInt(total(found))));
      return (found) => wrapped(total(found), bits);
    }
    case "lookup": {
      const [block, sources] = rest;
      const { widths } = tables[block];
      const entries = tables[block].words;
      if (sources.length === 1) return (found) => entries[lowBits(found[sources[0]], widths[0])];
      return (found) => {
        let index = 0;
        for (let k = 0; k < sources.length; k++) index = index * 2 ** widths[k] + lowBits(found[sources[k]], widths[k]);
        return entries[index];
      };
    }
    case "product": {
      const [wide, method, left, right, shift, block, limbBits] = rest;
      const { words: entries, widths } = tables[block] ?? {};
      return multiplying(wide, method, left, right, shift, entries, widths, limbBits);
    }
    default:
      return summing(...rest);
  }
}

/** A plan ready to run. `tables` are those of the data, each with its `words`. */
class Plan {
  constructor(data, tables) {
    this.words = new Array(data.wires.length).fill(0);
    this.inputs = { words: [] };
    if (data.precision) {
      this.steps = data.wires.map((wire) => floatStepOf(wire, data, tables, this.inputs));
      this.outputs = data.outputs.map(([wire, low, high]) => (values) => toEven(Math.min(Math.max(values[wire], low), high)));
      return;
    }
    this.steps = data.wires.map((wire) => stepOf(wire, tables, this.inputs));
    this.outputs = data.outputs.map(([wide, shift, constant, parts, low, high]) => {
      const total = summing(wide, shift, constant, parts);
      return (words) => {
        const word = total(words);
        return word < low ? low : word > high ? high : Number(word);
      };
    });
  }

  /** Return the output words of input words; any whole numbers are taken, as an evaluator takes them. */
  outputWords(inputs) {
    const { words, steps } = this;
    this.inputs.words = inputs;
    for (let k = 0; k < steps.length; k++) words[k] = steps[k](words);
    return this.outputs.map((output) => output(words) + 0);
  }
}
