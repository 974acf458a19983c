// The arm in floats: where its joints are, and the torques it needs by Newton and Euler, as bddtorque.dynamics has them.

const add = (u, v) => [u[0] + v[0], u[1] + v[1], u[2] + v[2]];
const cross = (u, v) => [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
const times = (M, v) => M.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
const transposedTimes = (M, v) => [0, 1, 2].map((k) => M[0][k] * v[0] + M[1][k] * v[1] + M[2][k] * v[2]);
const product = (A, B) => A.map((row) => transposedTimes(B, row));
const turned = (v, s, c) => [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]];

/** Return values of the drives as those of all joints: a follower's is multiplier times its leader's, plus offset. */
const ofJoints = (robot, values, moved = true) =>
  robot.joints.map(({ drive, multiplier, offset }) => multiplier * values[drive] + (moved ? offset : 0));

/** Return the joints at positions q, each with its frame before and after its motion, and the frame of the tip. */
function placedJoints(robot, q) {
  const positions = ofJoints(robot, q);
  const base = { rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], origin: [0, 0, 0] };
  const joints = [];
  robot.joints.forEach((joint, j) => {
    const carrier = joint.parent < 0 ? base : joints[joint.parent].moved;
    let origin = add(carrier.origin, times(carrier.rotation, joint.translation));
    let rotation = product(carrier.rotation, joint.rotation);
    const fixed = { rotation, origin };
    if (joint.turns) {
      const [s, c] = [Math.sin(positions[j]), Math.cos(positions[j])];
      rotation = product(rotation, [[c, -s, 0], [s, c, 0], [0, 0, 1]]);
    } else {
      origin = add(origin, times(rotation, [0, 0, positions[j]]));
    }
    const moved = { rotation, origin };
    joints.push({ fixed, moved, turns: joint.turns, start: carrier.origin, number: joint.drive + 1 });
  });
  if (!robot.serial) {
    const carriers = new Set(robot.joints.map((joint) => joint.parent));
    joints.forEach((placed, j) => {
      const { body } = robot.joints[j]; // a tree has no tip: its sticks end in the middle of the last bodies
      const centre = [0, 1, 2].map((k) => (body[3][3] > 0 ? body[k][3] / body[3][3] : 0));
      if (!carriers.has(j)) placed.end = add(placed.moved.origin, times(placed.moved.rotation, centre));
    });
  }
  const { rotation, origin } = joints[joints.length - 1].moved;
  const tip = {
    rotation: product(rotation, robot.tip.rotation),
    origin: add(origin, times(rotation, robot.tip.translation)),
  };
  return { joints, tip };
}

/** Return the corners of the stick figure: one line from the base to the tip of a chain, in a tree one per joint. */
function sticksOf(robot, joints, tip) {
  if (robot.serial) {
    return [[[0, 0, 0], ...joints.flatMap((joint) => [joint.fixed.origin, joint.moved.origin]), tip.origin]];
  }
  return joints.map((joint) => [joint.start, joint.fixed.origin, joint.moved.origin, ...(joint.end ? [joint.end] : [])]);
}

/** Return the rows of U = [ẇ]× + [w]×[w]×: a point r of the body accelerates at a + U r. */
function accelerationField(w, dw) {
  const [x, y, z] = w;
  return [
    [-(y * y + z * z), x * y - dw[2], x * z + dw[1]],
    [x * y + dw[2], -(x * x + z * z), y * z - dw[0]],
    [x * z - dw[1], y * z + dw[0], -(x * x + y * y)],
  ];
}

/** Return force and moment about the origin of a body with pseudo-inertia [[P, h], [hᵀ, m]]. */
function wrenchOf(body, w, dw, a) {
  const U = accelerationField(w, dw);
  const h = [body[0][3], body[1][3], body[2][3]];
  const force = add(a.map((each) => body[3][3] * each), times(U, h));
  const UP = U.map((row) => [0, 1, 2].map((k) => row[0] * body[0][k] + row[1] * body[1][k] + row[2] * body[2][k]));
  const spin = [UP[2][1] - UP[1][2], UP[0][2] - UP[2][0], UP[1][0] - UP[0][1]];
  return [force, add(cross(h, a), spin)];
}

/** Return the torques (N·m or N) of the drives, from their positions, velocities and accelerations in rad or m. */
function trueTorques(robot, positions, velocities, accelerations) {
  const [q, qd, qdd] = [
    ofJoints(robot, positions), ofJoints(robot, velocities, false), ofJoints(robot, accelerations, false),
  ];
  const n = robot.joints.length;
  const motions = [];
  const wrenches = [];
  for (let i = 0; i < n; i++) {
    const joint = robot.joints[i];
    let [w, dw, a] = joint.parent < 0 ? [[0, 0, 0], [0, 0, 0], robot.base_acceleration] : motions[joint.parent];
    if (joint.parent >= 0) a = add(a, times(accelerationField(w, dw), joint.translation));
    [w, dw, a] = [w, dw, a].map((v) => transposedTimes(joint.rotation, v));
    if (joint.turns) {
      const [s, c] = [Math.sin(q[i]), Math.cos(q[i])];
      [w, dw, a] = [w, dw, a].map((v) => turned(v, -s, c));
      dw = [dw[0] + w[1] * qd[i], dw[1] - w[0] * qd[i], dw[2] + qdd[i]];
      w = [w[0], w[1], w[2] + qd[i]];
    } else {
      const U = accelerationField(w, dw);
      a = add(a, [U[0][2] * q[i], U[1][2] * q[i], U[2][2] * q[i] + qdd[i]]);
      a = add(a, [2 * w[1] * qd[i], -2 * w[0] * qd[i], 0]);
    }
    motions.push([w, dw, a]);
    wrenches.push(wrenchOf(joint.body, w, dw, a));
  }
  const torques = positions.map(() => 0);
  for (let i = n - 1; i >= 0; i--) {
    const joint = robot.joints[i];
    let [force, moment] = wrenches[i];
    const own = (joint.turns ? moment[2] : force[2]) + joint.rotor * qdd[i] + friction(joint.friction, qd[i]);
    torques[joint.drive] += joint.multiplier * own;
    if (joint.parent < 0) continue;
    if (joint.turns) {
      const [s, c] = [Math.sin(q[i]), Math.cos(q[i])];
      [force, moment] = [turned(force, s, c), turned(moment, s, c)];
    } else {
      moment = [moment[0] - q[i] * force[1], moment[1] + q[i] * force[0], moment[2]];
    }
    force = times(joint.rotation, force);
    moment = add(times(joint.rotation, moment), cross(joint.translation, force));
    const [outer, turning] = wrenches[joint.parent];
    wrenches[joint.parent] = [add(outer, force), add(turning, moment)];
  }
  return torques;
}

/** Return the friction of a joint at a velocity; laws as in docs/format.md. */
function friction(law, velocity) {
  if (!law) return 0;
  if (law.kind === "interpolant") return interpolated(law.knots[0], law.values, velocity);
  let total = law.viscous * velocity;
  if (Math.abs(velocity) <= law.standstill) return total;
  const side = velocity > 0 ? 0 : 1;
  let dry = law.coulomb[side];
  if (law.static) dry += (law.static[side] - dry) * Math.exp(-((velocity / law.stribeck_velocity) ** 2));
  return total + (side ? -dry : dry);
}

/** Return the value of straight lines between knots, held beyond the outermost ones. */
function interpolated(knots, values, x) {
  if (x <= knots[0]) return values[0];
  for (let k = 1; k < knots.length; k++) {
    if (x <= knots[k]) {
      const share = (x - knots[k - 1]) / (knots[k] - knots[k - 1]);
      return values[k - 1] + share * (values[k] - values[k - 1]);
    }
  }
  return values[values.length - 1];
}
