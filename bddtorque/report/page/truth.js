// The true value of what was compiled: a graph of sums, products, sines and cosines, and laws that are added to it.

/** Return a function of words, one per input, that gives the true outputs; null where the page does not know them. */
function truthOf(truth, formats) {
  if (!truth) return null;
  const laws = truth.laws.map(([output, places, law]) => [output, places, lawOf(law)]);
  return (words) => {
    const values = words.map((word, k) => valueOf(formats[k], word));
    for (const { parts, bits, scale } of truth.derived) {
      const total = parts.reduce((sum, [place, factor]) => sum + factor * words[place], 0);
      values.push(scale * wrapped(total, bits));
    }
    const outputs = graphOutputs(truth.graph, values);
    for (const [output, places, law] of laws) outputs[output] += law(places.map((place) => values[place]));
    return outputs;
  };
}

/** Return a law as a function of its arguments; laws as in docs/format.md. */
function lawOf(law) {
  if (law.kind === "interpolant") return (values) => gridValue(law, values);
  if (law.kind === "nearest") return (values) => nearestValue(law, values);
  return ([velocity]) => friction(law, velocity);
}

/** Return the friction of a joint at a velocity. */
function friction(law, velocity) {
  const total = law.viscous * velocity;
  if (Math.abs(velocity) <= law.standstill) return total;
  const side = velocity > 0 ? 0 : 1;
  let dry = law.coulomb[side];
  if (law.static) dry += (law.static[side] - dry) * Math.exp(-((velocity / law.stribeck_velocity) ** 2));
  return total + (side ? -dry : dry);
}

/** Evaluate a graph; an odd reference is the negative of the node before it. */
function graphOutputs({ nodes, outputs }, inputs) {
  const found = [];
  const take = (reference) => (reference & 1 ? -found[reference >> 1] : found[reference >> 1]);
  for (const [kind, left, right] of nodes) {
    if (kind === 0) found.push(inputs[left]);
    else if (kind === 1) found.push(left);
    else if (kind === 2) found.push(take(left) + take(right));
    else if (kind === 3) found.push(take(left) * take(right));
    else found.push(kind === 4 ? Math.sin(take(left)) : Math.cos(take(left)));
  }
  return outputs.map(take);
}

/** Return an angle, or a difference of two, between −π and π. */
function reduced(angle) {
  return angle - 2 * Math.PI * Math.floor(angle / (2 * Math.PI) + 0.5);
}

/** Return the value of samples on a grid, linear in each argument between neighbours, held beyond the outermost. */
function gridValue(law, values) {
  let corners = [[0, 1]]; // places in the list of values, each with its share
  values.forEach((value, axis) => {
    const knots = law.knots[axis];
    const count = knots.length;
    const around = law.around[axis];
    const x = around ? reduced(value) : Math.min(Math.max(value, knots[0]), knots[count - 1]);
    const above = knots.findIndex((knot) => knot > x);
    const after = above < 0 ? count : above;
    let [low, high] = [after - 1, after];
    let [from, to] = [knots[low], knots[high]];
    if (low < 0) [low, from] = around ? [count - 1, knots[count - 1] - 2 * Math.PI] : [0, knots[0]];
    if (high >= count) [high, to] = around ? [0, knots[0] + 2 * Math.PI] : [count - 1, knots[count - 1]];
    const share = to > from ? Math.min(Math.max((x - from) / (to - from), 0), 1) : 0;
    corners = corners.flatMap(([place, weight]) => [
      [place * count + low, weight * (1 - share)],
      [place * count + high, weight * share],
    ]);
  });
  return corners.reduce((total, [place, weight]) => total + (weight ? weight * law.values[place] : 0), 0);
}

/** Return the value of the nearest sample; of two, the one listed first. */
function nearestValue(law, values) {
  let [best, least] = [0, Infinity];
  law.points.forEach((point, k) => {
    let distance = 0;
    point.forEach((at, axis) => {
      const off = (law.around[axis] ? reduced(values[axis] - at) : values[axis] - at) / law.units[axis];
      distance += off * off;
    });
    if (distance < least) [best, least] = [k, distance];
  });
  return law.values[best];
}
