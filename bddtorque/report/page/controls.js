// What moves: sliders in words, the torques beside what is proved of them, and a map of errors around the present state.

const QUANTITIES = ["q", "qd", "qdd"];
const MAP_POINTS = 48;
const MAP_DELAY = 120;

/** Reads and writes the sliders, one a quantity and joint. */
class Sliders {
  constructor(formats, start, onChange) {
    this.formats = formats;
    this.start = start;
    this.rows = QUANTITIES.map((name) =>
      formats[name].map((format, j) => {
        const input = document.getElementById(`${name}${j + 1}`);
        const output = document.getElementById(`${name}${j + 1}-value`);
        input.addEventListener("input", () => {
          this.describe(input, output, format);
          onChange();
        });
        return { input, output, format };
      }),
    );
    this.set(start);
  }

  /** Return the words as they stand: q, qd, qdd, one a joint. */
  words() {
    return this.rows.map((row) => row.map(({ input }) => Number(input.value)));
  }

  set(words) {
    this.rows.forEach((row, kind) =>
      row.forEach(({ input, output, format }, j) => {
        input.value = String(words[kind][j]);
        this.describe(input, output, format);
      }),
    );
  }

  describe(input, output, format) {
    const word = held(Number(input.value), format.bits, format.wraps);
    const value = valueOf(format, word);
    const degrees = format.wraps ? `${shown((value * 180) / Math.PI)}°` : `${shown(value)} ${format.unit}`;
    output.textContent = degrees;
    output.title = `word ${word}`;
    input.setAttribute("aria-valuetext", `${degrees}, word ${word}`);
  }
}

/** Return words at values at the joints, all quantities. */
function valuesOf(formats, words) {
  return QUANTITIES.map((name, kind) => words[kind].map((word, j) => valueOf(formats[name][j], word)));
}

/** Writes the torques of a state into their table. */
class TorqueTable {
  constructor(data) {
    this.formats = data.formats.tau;
    this.bounds = data.bounds;
    const cell = (j, name) => document.getElementById(`tau${j + 1}-${name}`);
    this.rows = this.formats.map((_, j) => ({
      word: cell(j, "word"),
      value: cell(j, "value"),
      truth: cell(j, "true"),
      difference: cell(j, "difference"),
      mark: cell(j, "mark"),
      note: cell(j, "note"),
    }));
  }

  /** `words` may be null: the page has no tables. */
  show(words, truth) {
    this.rows.forEach((row, j) => {
      const format = this.formats[j];
      const units = unitsOf(format, truth[j]);
      const inside = clampedUnits(format, units);
      row.truth.textContent = shown(truth[j], 6);
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
      row.difference.textContent = (difference < 0 ? "−" : "+") + Math.abs(difference).toFixed(3);
      const share = Math.max(-1, Math.min(1, difference / this.bounds[j] || 0));
      row.mark.setAttribute("cx", (46 * share).toFixed(1));
      row.mark.classList.toggle("outside", Math.abs(difference) > this.bounds[j]);
    });
  }
}

/** Draws the error of one torque over two positions (or velocities), everything else as the sliders have it. */
class LiveMap {
  constructor(data, plan, sliders) {
    Object.assign(this, { data, plan, sliders });
    this.canvas = document.getElementById("live-map");
    this.said = document.getElementById("live-map-said");
    this.choices = ["across", "up", "torque", "words"].map((name) => document.getElementById(`map-${name}`));
    for (const choice of this.choices) choice.addEventListener("change", () => this.later(0));
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
    const { formats, bounds } = this.data;
    const [across, up] = this.choices.slice(0, 2).map((choice) => choice.value.split(" ").map(Number));
    const torque = Number(this.choices[2].value);
    const words = this.sliders.words();
    const near = this.choices[3].value === "near";
    const [columns, rows] = [across, up].map(([kind, j]) =>
      mapWords(formats[QUANTITIES[kind]][j], near ? words[kind][j] : null),
    );
    this.canvas.width = columns.length;
    this.canvas.height = rows.length;
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(columns.length, rows.length);
    let row = 0;
    let largest = 0;
    const step = () => {
      if (run !== this.run) return;
      const until = performance.now() + 12;
      while (row < rows.length && performance.now() < until) {
        words[up[0]][up[1]] = rows[row];
        columns.forEach((word, column) => {
          words[across[0]][across[1]] = word;
          const error = this.error(words, torque);
          largest = Math.max(largest, Math.abs(error));
          const place = 4 * ((rows.length - 1 - row) * columns.length + column);
          image.data.set([...this.colour(error / bounds[torque] || 0), 255], place);
        });
        row++;
      }
      if (row < rows.length) {
        setTimeout(step, 0);
        return;
      }
      context.putImageData(image, 0, 0);
      const proved = `${bounds[torque].toFixed(3)} proved`;
      this.said.textContent = `Largest here: ${largest.toFixed(3)} units of the last bit; ${proved}.`;
    };
    step();
  }

  error(words, torque) {
    const format = this.data.formats.tau[torque];
    const truth = trueTorques(this.data.robot, ...valuesOf(this.data.formats, words))[torque];
    return this.plan.torqueWords(...words)[torque] - clampedUnits(format, unitsOf(format, truth));
  }

  /** Return red, green and blue of a share of the bound, −1 to 1. */
  colour(share) {
    const { stops } = this.data;
    const at = ((Math.max(-1, Math.min(1, share)) + 1) / 2) * (stops.length - 1);
    const k = Math.min(Math.floor(at), stops.length - 2);
    return stops[k].map((each, i) => Math.round(each + (at - k) * (stops[k + 1][i] - each)));
  }
}

/** Return every word of a format, or some of them: those about a word, or evenly spaced where there is none. */
function mapWords(format, about) {
  const count = Math.min(MAP_POINTS, 2 ** format.bits);
  if (about !== null) {
    const first = Math.max(lowestWord(format), Math.min(about - count / 2, highestWord(format) + 1 - count));
    return Array.from({ length: count }, (_, k) => first + k);
  }
  return Array.from({ length: count }, (_, k) =>
    lowestWord(format) + Math.floor(((2 * k + 1) * 2 ** format.bits) / (2 * count)),
  );
}
