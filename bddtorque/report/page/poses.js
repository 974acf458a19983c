// Where the joints of an arm are, as report/view.py has them.

const add = (u, v) => [u[0] + v[0], u[1] + v[1], u[2] + v[2]];
const times = (M, v) => M.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
const transposedTimes = (M, v) => [0, 1, 2].map((k) => M[0][k] * v[0] + M[1][k] * v[1] + M[2][k] * v[2]);
const product = (A, B) => A.map((row) => transposedTimes(B, row));

/** Return positions of the drives as those of all joints: a follower's is multiplier times its leader's, plus offset. */
const ofJoints = (robot, q) => robot.joints.map(({ drive, multiplier, offset }) => multiplier * q[drive] + offset);

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
      const { centre } = robot.joints[j]; // a tree has no tip: its sticks end in the middle of the last bodies
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
