// What moves: sliders in words, the outputs beside what is proved of them, and a map around the present state.

const MAP_POINTS = 48;
const CURVE_POINTS = 480;
const MAP_DELAY = 120;

/** Reads and writes the sliders, one per input word. */
class Sliders {
  constructor(formats, start, onChange) {
    this.rows = formats.map((format, k) => {
      const input = document.getElementById(`in${k + 1}`);
      const output = document.getElementById(`in${k + 1}-value`);
      input.addEventListener("input", () => {
        this.describe(input, output, format);
        onChange();
      });
      return { input, output, format };
    });
    this.set(start);
  }

  /** Return the words as they stand. */
  words() {
    return this.rows.map(({ input, format }) =>
      format.wraps ? held(Number(input.value), format.bits, true, true) : Number(input.value),
    );
  }

  /** Return words anywhere on the sliders, which end at the limits of their joints. */
  random() {
    return this.rows.map(
      ({ input }) => Number(input.min) + Math.floor(Math.random() * (Number(input.max) - Number(input.min) + 1)),
    );
  }

  set(words) {
    this.rows.forEach(({ input, output, format }, k) => {
      const turn = format.wraps && words[k] < Number(input.min) ? 2 ** format.bits : 0;
      input.value = String(words[k] + turn);
      this.describe(input, output, format);
    });
  }

  describe(input, output, format) {
    const word = held(Number(input.value), format.bits, format.wraps, format.signed);
    const value = valueOf(format, word);
    const degrees = format.wraps ? `${shown((value * 180) / Math.PI)}°` : withUnit(value, format.unit);
    output.textContent = degrees;
    output.title = `word ${word}`;
    input.setAttribute("aria-valuetext", `${degrees}, word ${word}`);
  }
}

/** Return words with all velocities and accelerations at zero; `rest` has null for what is left as it is. */
function atRest(rest, words) {
  return rest.map((word, k) => word ?? words[k]);
}

/** Writes the outputs of a state into their table. */
class OutputTable {
  constructor(data) {
    this.formats = data.outputs;
    this.bounds = data.bounds;
    const cell = (k, name) => document.getElementById(`out${k + 1}-${name}`);
    this.rows = this.formats.map((_, k) => ({
      word: cell(k, "word"),
      value: cell(k, "value"),
      truth: cell(k, "true"),
      difference: cell(k, "difference"),
      mark: cell(k, "mark"),
      note: cell(k, "note"),
    }));
  }

  /** `words` may be null: the page has no tables. `truth` may be too: only the function itself knows it. */
  show(words, truth) {
    this.rows.forEach((row, j) => {
      const format = this.formats[j];
      const units = truth ? unitsOf(format, truth[j]) : words ? words[j] : 0;
      const inside = clampedUnits(format, units);
      row.truth.textContent = truth ? shown(truth[j], 6) : "–";
      const saturated = Math.abs(units - inside) > 0.5;
      row.note.textContent = saturated ? "beyond the range: clamped" : "";
      if (!words) {
        for (const cell of [row.word, row.value, row.difference]) cell.textContent = "–";
        row.mark.setAttribute("visibility", "hidden");
        return;
      }
      row.mark.setAttribute("visibility", "visible");
      const difference = words[j] - inside;
      row.word.textContent = String(words[j]).replace("-", "−");
      row.value.textContent = shown(valueOf(format, words[j]), 6);
      row.difference.textContent = truth ? (difference < 0 ? "−" : "+") + Math.abs(difference).toFixed(3) : "–";
      if (!truth) row.mark.setAttribute("visibility", "hidden");
      const share = Math.max(-1, Math.min(1, difference / this.bounds[j] || 0));
      row.mark.setAttribute("cx", (46 * share).toFixed(1));
      row.mark.classList.toggle("outside", Math.abs(difference) > this.bounds[j]);
    });
  }
}

/** Draws one output, its margin, what it is at rest, or its error over two words, the others as the sliders have them. */
class LiveMap {
  constructor(data, plan, sliders, truth) {
    Object.assign(this, { data, plan, sliders, truth });
    const part = (name) => document.getElementById(name);
    [this.canvas, this.said, this.low, this.high] = ["live-map", "live-map-said", "map-low", "map-high"].map(part);
    this.choices = {};
    for (const name of ["show", "output", "across", "up", "words"]) {
      this.choices[name] = part(`map-${name}`);
      this.choices[name].addEventListener("change", () => this.later(0));
    }
    this.run = 0;
    this.later(0);
  }

  /** Draw soon, unless something changes again before. */
  later(delay = MAP_DELAY) {
    const run = ++this.run;
    setTimeout(() => this.begin(run), delay);
  }

  begin(run) {
    if (run !== this.run) return;
    const { inputs } = this.data;
    const chosen = Object.fromEntries(Object.entries(this.choices).map(([name, menu]) => [name, menu.value]));
    if (!chosen.up) return this.curve(chosen);
    const [across, up, output] = [chosen.across, chosen.up, chosen.output].map(Number);
    const words = this.words(chosen.show);
    const [columns, rows] = [across, up].map((place) =>
      mapWords(inputs[place], chosen.words === "near" ? words[place] : null),
    );
    const values = [];
    const step = () => {
      if (run !== this.run) return;
      const until = performance.now() + 12;
      while (values.length < rows.length && performance.now() < until) {
        words[up] = rows[values.length];
        values.push(
          columns.map((word) => {
            words[across] = word;
            return this.value(chosen.show, words, output);
          }),
        );
      }
      if (values.length < rows.length) setTimeout(step, 0);
      else this.paint(values, chosen.show, output);
    };
    step();
  }

  /** Return the words of the sliders, at rest where that is to be shown. */
  words(show) {
    const words = this.sliders.words();
    return show === "rest" ? atRest(this.data.rest, words) : words;
  }

  /** Draw a curve over one word: what is compiled, and for errors the bound on either side. */
  curve(chosen) {
    const { inputs, outputs, bounds } = this.data;
    const words = this.words(chosen.show);
    const [place, output] = [chosen.across, chosen.output].map(Number);
    const format = inputs[place];
    const across = mapWords(format, chosen.words === "near" ? words[place] : null, CURVE_POINTS);
    const values = across.map((word) => {
      words[place] = word;
      return this.value(chosen.show, words, output);
    });
    const bound = chosen.show === "error" ? bounds[output] : null;
    const ends = bound === null ? [Math.min(...values), Math.max(...values)] : [-bound, bound];
    drawCurve(this.canvas, values, ends, chosen.show === "error");
    const { unit } = outputs[output];
    const of = { error: "units of the last bit", margin: "of the range" }[chosen.show] ?? unit;
    const [first, last] = [across[0], across[across.length - 1]].map((word) => valueOf(format, word));
    [this.low.textContent, this.high.textContent] = [first, last].map((value) => withUnit(value, format.unit));
    this.said.textContent =
      bound === null
        ? `From ${shown(ends[0])} to ${withUnit(ends[1], of)}, left to right from ${shown(first)} to ` +
          `${withUnit(last, format.unit)}.`
        : `Largest here: ${Math.max(...values.map(Math.abs)).toFixed(3)} units of the last bit; the dashed lines are ` +
          `the proved bound, ${bound.toFixed(3)}.`;
  }

  /** Return what a map shows of a state: its value, the share of the range that is left, or units of the last bit. */
  value(show, words, output) {
    const format = this.data.outputs[output];
    const word = this.plan.outputWords(words)[output];
    if (show === "margin") return 1 - Math.abs(word) / (highestWord(format) + 1);
    if (show !== "error") return valueOf(format, word);
    return word - clampedUnits(format, unitsOf(format, this.truth(words)[output]));
  }

  /** Colour the canvas: errors up to the bound, margins from none to all of the range, values up to the largest. */
  paint(values, show, output) {
    const flat = values.flat();
    const largest = flat.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const { unit } = this.data.outputs[output];
    const bound = this.data.bounds[output];
    const [share, low, high, said] = {
      error: [
        (value) => value / bound || 0,
        "− bound",
        "+ bound",
        `Largest here: ${largest.toFixed(3)} units of the last bit; ${bound.toFixed(3)} proved.`,
      ],
      margin: [
        (value) => 1 - 2 * value,
        "all free",
        "none",
        `Least margin here: ${(100 * Math.min(...flat)).toFixed(1)} % of the range.`,
      ],
    }[show] ?? [
      (value) => value / largest || 0,
      `−${withUnit(largest, unit)}`,
      withUnit(largest, unit),
      `Here: ${shown(Math.min(...flat))} to ${withUnit(Math.max(...flat), unit)}.`,
    ];
    this.canvas.classList.remove("curve");
    [this.canvas.width, this.canvas.height] = [values[0].length, values.length];
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.canvas.width, this.canvas.height);
    values.forEach((row, r) =>
      row.forEach((value, column) => {
        const place = 4 * ((values.length - 1 - r) * row.length + column); // the lowest words at the bottom
        image.data.set([...this.colour(share(value)), 255], place);
      }),
    );
    context.putImageData(image, 0, 0);
    [this.low.textContent, this.high.textContent, this.said.textContent] = [low, high, said];
  }

  /** Return red, green and blue of a share, −1 to 1. */
  colour(share) {
    const { stops } = this.data;
    const at = ((Math.max(-1, Math.min(1, share)) + 1) / 2) * (stops.length - 1);
    const k = Math.min(Math.floor(at), stops.length - 2);
    return stops[k].map((each, i) => Math.round(each + (at - k) * (stops[k + 1][i] - each)));
  }
}

/** Return every word of a format, or some of them: those about a word, or evenly spaced where there is none. */
function mapWords(format, about, most = MAP_POINTS) {
  const count = Math.min(most, 2 ** format.bits);
  if (about !== null) {
    const first = Math.max(lowestWord(format), Math.min(about - count / 2, highestWord(format) + 1 - count));
    return Array.from({ length: count }, (_, k) => first + k);
  }
  return Array.from({ length: count }, (_, k) =>
    lowestWord(format) + Math.floor(((2 * k + 1) * 2 ** format.bits) / (2 * count)),
  );
}

/** Draw values from left to right between two ends, as a line, or as points between dashed lines at the ends. */
function drawCurve(canvas, values, [low, high], points) {
  const [width, height, edge] = [960, 480, 16];
  canvas.classList.add("curve");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const colour = (name) => getComputedStyle(canvas).getPropertyValue(name);
  const x = (k) => edge + (k * (width - 2 * edge)) / Math.max(values.length - 1, 1);
  const y = (value) => height - edge - ((value - low) / (high - low || 1)) * (height - 2 * edge);
  const line = (...places) => {
    context.beginPath();
    places.forEach(([a, b], k) => (k ? context.lineTo(a, b) : context.moveTo(a, b)));
    context.stroke();
  };
  context.lineWidth = 2;
  context.strokeStyle = colour("--line");
  if (low < 0 && high > 0) line([0, y(0)], [width, y(0)]);
  context.setLineDash([10, 8]);
  if (points) context.strokeStyle = colour("--bad");
  for (const end of [low, high]) line([0, y(end)], [width, y(end)]);
  context.setLineDash([]);
  context.lineWidth = 3;
  context.strokeStyle = context.fillStyle = colour("--accent");
  if (!points) line(...values.map((value, k) => [x(k), y(value)]));
  else values.forEach((value, k) => context.fillRect(x(k) - 2, y(value) - 2, 4, 4));
}
