// The arm drawn as sticks: the same shapes as report/arm_picture.py, moved.

const HALF_WIDTH = 200;
const HALF_HEIGHT = 135;
const ROOM = 32;
const JOINT = 10;
const AXIS = 20;
const TIP = 18;
const LINK = 4.5;
const SHADOW = 2.5;
const APART = 24;
const LETTER = 3.3;
const LINE = 6;
const CLEAR = 3;
const ABOVE = 1e4; // joints are drawn over links, and the axes of the tip over joints
const TURNS = [-2, -6, 2, 6, 0, 8, -4, 4, -1, -7, -3, -5].map((turn) => (turn * Math.PI) / 8);
const PLACES = [1, 1.5, 2, 2.5].flatMap((far) => TURNS.map((turn) => [turn, far]));

class ArmDrawing {
  constructor(svg, robot, view) {
    this.svg = svg;
    this.group = svg.querySelector("#arm-shapes");
    this.robot = robot;
    this.home = view;
    this.view = { ...view };
    this.q = robot.joints.map(() => 0);
    this.listen();
  }

  /** Show the arm at positions q (rad or m). */
  show(q) {
    this.q = q;
    this.draw();
  }

  reset() {
    this.view = { ...this.home };
    this.draw();
  }

  turn(right, up) {
    this.view.azimuth -= right;
    this.view.elevation = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.view.elevation + up));
    this.draw();
  }

  /** Return a point in base axes as [right, down, towards the eye] in m. */
  seen(point) {
    const { axes, azimuth, elevation } = this.view;
    const [x, y, z] = times(axes, point);
    const out = Math.cos(azimuth) * x + Math.sin(azimuth) * y;
    const right = Math.cos(azimuth) * y - Math.sin(azimuth) * x;
    const up = Math.cos(elevation) * z - Math.sin(elevation) * out;
    return [right, -up, Math.sin(elevation) * z + Math.cos(elevation) * out];
  }

  /** Choose the scale at which all of some points, and the arm where the page begins, are in the picture. */
  fit(points) {
    const seen = points.map((point) => this.seen(point));
    const [left, top, right, bottom] = this.view.box;
    const low = [left, top].map((least, k) => Math.min(least, ...seen.map((each) => each[k])));
    const high = [right, bottom].map((most, k) => Math.max(most, ...seen.map((each) => each[k])));
    const room = [HALF_WIDTH - ROOM, HALF_HEIGHT - ROOM];
    this.centre = low.map((least, k) => (least + high[k]) / 2);
    this.scale = Math.min(...room.map((most, k) => (2 * most) / Math.max(high[k] - low[k], 1e-9)));
  }

  /** Return a point in base axes as [right, down, towards the eye] from the middle of the picture, in its units. */
  screen(point) {
    const [right, down, near] = this.seen(point);
    return [(right - this.centre[0]) * this.scale, (down - this.centre[1]) * this.scale, near * this.scale];
  }

  draw() {
    const { view } = this;
    const { joints, tip } = placedJoints(this.robot, this.q);
    const sticks = sticksOf(this.robot, joints, tip);
    const floor = ring([0, 0, 0], view.axes[0], view.axes[1], view.floor, 48);
    this.fit([...sticks.flat(), ...floor]);
    const up = view.axes[2];
    const flat = (p) => {
      const height = p[0] * up[0] + p[1] * up[1] + p[2] * up[2];
      return p.map((each, k) => each - height * up[k]);
    };
    const shadows = sticks.map((points) => points.map(flat));
    const still = [
      this.shape("polygon", floor, "floor"),
      ...shadows.map((points) => this.shape("polyline", points, "shadow")),
    ];
    const solid = [];
    const taken = []; // what labels keep clear of: both ends, and half its width
    const take = (points, width) => {
      const [start, end] = points.map((point) => this.screen(point));
      taken.push([start, end, width]);
    };
    for (const points of shadows) {
      for (let k = 0; k + 1 < points.length; k++) take(points.slice(k, k + 2), SHADOW);
    }
    sticks.forEach((points, first) => {
      for (let k = 0; k + 1 < points.length; k++) {
        const slides = k % 2 === 1 && !joints[first + (k - 1) / 2].turns;
        if (k % 2 === 1 && !slides) continue;
        const ends = points.slice(k, k + 2);
        solid.push(this.shape("polyline", ends, slides ? "rod" : "link"));
        take(ends, LINK);
      }
    });
    joints.forEach((joint) => {
      const { rotation, origin } = joint.fixed;
      const [across, beside, along] = [0, 1, 2].map((k) => rotation.map((row) => row[k]));
      const ends = [-AXIS, AXIS].map((size) => add(origin, along.map((each) => (size / this.scale) * each)));
      const rim = ring(origin, across, beside, JOINT / this.scale, joint.turns ? 28 : 4);
      solid.push(this.shape("polyline", ends, "axis", ABOVE));
      solid.push(this.shape("polygon", rim, joint.turns ? "joint turning" : "joint sliding", ABOVE + 1));
      take(ends, 0.5);
      rim.forEach((corner) => take([corner, corner], 1));
    });
    const tips = this.robot.serial ? ["tip tip-x", "tip tip-y", "tip tip-z"] : [];
    tips.forEach((kind, k) => {
      const ends = [tip.origin, add(tip.origin, tip.rotation.map((row) => (TIP / this.scale) * row[k]))];
      solid.push(this.shape("polyline", ends, kind, 2 * ABOVE));
      take(ends, 1);
    });
    solid.push(...this.labels(joints, taken));
    solid.sort((a, b) => a.near - b.near); // what is nearer is drawn later
    this.group.replaceChildren(...still.map((each) => each.node), ...solid.map((each) => each.node));
  }

  shape(name, points, kind, nearer = 0) {
    const node = document.createElementNS(this.svg.namespaceURI, name);
    const seen = points.map((point) => this.screen(point));
    node.setAttribute("points", seen.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "));
    node.setAttribute("class", kind);
    return { node, near: seen.reduce((sum, each) => sum + each[2], 0) / seen.length + nearer };
  }

  /** Number the joints; a follower has the number of its leader, and joints that are close together share a label. */
  labels(joints, taken) {
    const groups = [];
    joints.forEach(({ fixed, number }) => {
      const [x, y] = this.screen(fixed.origin);
      const near = groups.find((group) => Math.hypot(group.x - x, group.y - y) < APART);
      if (!near) groups.push({ x, y, names: [number] });
      else if (!near.names.includes(number)) near.names.push(number);
    });
    return groups.map(({ x, y, names }) => {
      const text = names.join(", ");
      const place = placeLabel([x, y], LETTER * text.length, taken);
      const node = document.createElementNS(this.svg.namespaceURI, "text");
      node.setAttribute("x", place[0].toFixed(1));
      node.setAttribute("y", place[1].toFixed(1));
      node.setAttribute("class", "joint-name");
      node.textContent = text;
      return { node, near: Infinity };
    });
  }

  listen() {
    const { svg } = this;
    let last = null;
    svg.addEventListener("pointerdown", (event) => {
      last = [event.clientX, event.clientY];
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!last) return;
      this.turn((event.clientX - last[0]) / 120, (event.clientY - last[1]) / 120);
      last = [event.clientX, event.clientY];
    });
    for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => (last = null));
    const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    svg.addEventListener("keydown", (event) => {
      if (!steps[event.key]) return;
      event.preventDefault();
      this.turn(...steps[event.key]);
    });
    svg.addEventListener("dblclick", () => this.reset());
  }
}

/** Return the corners of a regular polygon about a point. */
function ring(centre, across, beside, radius, corners) {
  return Array.from({ length: corners }, (_, k) => {
    const angle = ((k + 0.5) * 2 * Math.PI) / corners;
    const [c, s] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    return centre.map((each, i) => each + c * across[i] + s * beside[i]);
  });
}

/** Return where the middle of a label beside a point goes, clear of what is taken, and take that place too. */
function placeLabel([x, y], half, taken) {
  let best = -Infinity;
  let place = null;
  for (const [turn, far] of PLACES) {
    const right = x + far * Math.cos(turn) * (JOINT + CLEAR + half);
    const down = y + far * Math.sin(turn) * (JOINT + CLEAR + LINE);
    const free = Math.min(CLEAR, clearance([right, down], half, taken));
    if (free > best) [best, place] = [free, [right, down]];
  }
  taken.push([[place[0] - half, place[1]], [place[0] + half, place[1]], LINE]);
  return place;
}

/** Return how far a label stays from the frame and from all that is taken. */
function clearance([x, y], half, taken) {
  let free = Math.min(HALF_WIDTH - Math.abs(x) - half, HALF_HEIGHT - Math.abs(y) - LINE);
  for (const [start, end, width] of taken) {
    const [across, down] = [end[0] - start[0], end[1] - start[1]];
    const length = across * across + down * down || 1;
    for (const share of [-1, -0.5, 0, 0.5, 1]) {
      const [right, below] = [x + share * half - start[0], y - start[1]];
      const along = Math.min(Math.max((right * across + below * down) / length, 0), 1);
      free = Math.min(free, Math.hypot(right - along * across, below - along * down) - width - LINE);
    }
  }
  return free;
}
