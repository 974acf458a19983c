// The arm drawn as sticks: the same shapes as report/arm_picture.py, moved.

const SIDE = 200;
const FLOOR = 0.55;
const JOINT = 0.05;
const AXIS = 0.1;
const MARGIN = 1.06;
const APART = 24;

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

  /** Return a point in base axes as [right, down, towards the eye] in the picture's units. */
  screen(point) {
    const { axes, azimuth, elevation } = this.view;
    const [x, y, z] = times(axes, point).map((each) => (each / this.reach) * SIDE);
    const out = Math.cos(azimuth) * x + Math.sin(azimuth) * y;
    const right = Math.cos(azimuth) * y - Math.sin(azimuth) * x;
    const up = Math.cos(elevation) * z - Math.sin(elevation) * out;
    return [right, -up, Math.sin(elevation) * z + Math.cos(elevation) * out];
  }

  draw() {
    const { view } = this;
    const { joints, tip } = placedJoints(this.robot, this.q);
    const sticks = sticksOf(this.robot, joints, tip);
    this.reach = Math.max(view.reach, MARGIN * Math.max(...sticks.flat().map((point) => Math.hypot(...point))));
    const up = view.axes[2];
    const flat = (p) => {
      const height = p[0] * up[0] + p[1] * up[1] + p[2] * up[2];
      return p.map((each, k) => each - height * up[k]);
    };
    const still = [
      this.shape("polygon", ring([0, 0, 0], view.axes[0], view.axes[1], FLOOR * this.reach, 48), "floor"),
      ...sticks.map((points) => this.shape("polyline", points.map(flat), "shadow")),
    ];
    const solid = [];
    sticks.forEach((points, first) => {
      for (let k = 0; k + 1 < points.length; k++) {
        const slides = k % 2 === 1 && !joints[first + (k - 1) / 2].revolute;
        if (k % 2 === 0 || slides) solid.push(this.shape("polyline", points.slice(k, k + 2), slides ? "rod" : "link"));
      }
    });
    const length = AXIS * this.reach;
    joints.forEach((joint) => {
      const { rotation, origin } = joint.fixed;
      const [across, beside, along] = [0, 1, 2].map((k) => rotation.map((row) => row[k]));
      const ends = [-length, length].map((size) => add(origin, along.map((each) => size * each)));
      const corners = joint.revolute ? 28 : 4;
      const kind = joint.revolute ? "joint revolute" : "joint prismatic";
      solid.push(this.shape("polyline", ends, "axis", -0.01));
      solid.push(this.shape("polygon", ring(origin, across, beside, JOINT * this.reach, corners), kind, 1));
    });
    solid.push(...this.labels(joints));
    const tips = this.robot.serial ? ["tip tip-x", "tip tip-y", "tip tip-z"] : [];
    tips.forEach((kind, k) => {
      const end = add(tip.origin, tip.rotation.map((row) => 0.9 * length * row[k]));
      solid.push(this.shape("polyline", [tip.origin, end], kind, 2));
    });
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

  /** Number the joints; a follower has the number of its leader, and those that would hide each other's share one label. */
  labels(joints) {
    const groups = [];
    joints.forEach(({ fixed, number }) => {
      const [x, y] = this.screen(fixed.origin);
      const near = groups.find((group) => Math.hypot(group.x - x, group.y - y) < APART);
      if (near) near.names.push(number);
      else groups.push({ x, y, names: [number] });
    });
    return groups.map((group) => this.label(group.x, group.y, group.names.join(", ")));
  }

  label(x, y, text) {
    const node = document.createElementNS(this.svg.namespaceURI, "text");
    node.setAttribute("x", (x + 15).toFixed(1));
    node.setAttribute("y", (y - 14).toFixed(1));
    node.setAttribute("class", "joint-name");
    node.textContent = text;
    return { node, near: Infinity };
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
