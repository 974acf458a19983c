// Begins when the page is read: makes the tables whole, checks them, and brings the page to life.

/** Unpack all tables; returns how many have the key that the digest covers, or null where keys cannot be taken. */
async function readTables(tables) {
  let checked = 0;
  for (const table of tables) {
    table.words = await unpackedTable(table);
    delete table.data;
    const key = await tableKey(table, table.words);
    if (key === null) checked = null;
    else if (key !== table.key) throw new Error("a table of this page is not the one that was compiled");
    else if (checked !== null) checked++;
  }
  return checked;
}

/** Compare the page's words with those of the evaluator on the states that came along; returns how many are equal. */
function compared(plan, checks) {
  return checks.states.filter((state, k) => {
    const words = plan.outputWords(state);
    return words.every((word, j) => word === checks.words[k][j]);
  }).length;
}

function say(identifier, text) {
  document.getElementById(identifier).textContent = text;
}

async function begin() {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.documentElement.classList.add("script");
  const arm = data.robot && new ArmDrawing(document.getElementById("arm"), data.robot, data.view);
  const truth = truthOf(data.truth, data.inputs);
  const outputs = new OutputTable(data);
  let plan = null;
  let map = null;
  const show = () => {
    const words = sliders.words();
    if (arm) arm.show(data.robot.positions.map((place) => valueOf(data.inputs[place], words[place])));
    outputs.show(plan && plan.outputWords(words), truth && truth(words));
    if (map) map.later();
  };
  const sliders = new Sliders(data.inputs, data.start, show);
  const buttons = {
    "set-start": () => data.start,
    "set-rest": () => atRest(data.rest, data.start),
    "set-random": () => sliders.random(),
  };
  for (const [name, words] of Object.entries(buttons)) {
    document.getElementById(name)?.addEventListener("click", () => {
      sliders.set(words());
      show();
    });
  }
  document.getElementById("set-view")?.addEventListener("click", () => arm.reset());
  show();
  for (const part of document.querySelectorAll(".zoom")) {
    const zoom = () => part.classList.toggle("zoomed");
    part.addEventListener("click", zoom);
    part.addEventListener("keydown", (event) => event.key === "Enter" && zoom());
  }
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => (each.open = true)));
  const page = { data, arm, sliders, plan, show, truth, placedJoints, Plan, fusedSingle, fusedDouble };
  globalThis.bddtorque = page;
  if (data.plan) {
    const checked = await readTables(data.tables);
    plan = new Plan(data.plan, data.tables);
    const equal = compared(plan, data.checks);
    const all = data.checks.states.length;
    const keys = !data.tables.length
      ? "This model has no tables."
      : checked === null
        ? "This browser offers no SHA-256 here, so the keys of the tables were not checked."
        : data.tables.length === 1
          ? "The table in this page has the SHA-256 that the digest covers."
          : `${checked} of ${data.tables.length} tables in this page have the SHA-256 that the digest covers.`;
    if (equal !== all) throw new Error(`only ${equal} of ${all} states have the words of the evaluator`);
    say("live-said", `${keys} On all ${all} test states the page computes the evaluator's words.`);
    map = new LiveMap(data, plan, sliders, truth);
    page.plan = plan;
    page.map = map;
    show();
  }
  document.documentElement.classList.add("ready");
}

begin().catch((problem) => {
  say("live-said", `Live values are off: ${problem.message}`);
  document.documentElement.classList.add("failed");
  console.error(problem);
});
