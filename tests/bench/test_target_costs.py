"""Cost of each target: counted where it was compiled, estimated for the others, and shown by `compile`."""

import json
from pathlib import Path

import pytest
from compiled import arm, compiled, rubbing_arm

from bddtorque.bench.target_costs import Recursion, TargetCost, counted_cost, estimates, target_costs
from bddtorque.cli import main
from bddtorque.compiler import robot_draft
from bddtorque.compiler.origin import from_recursion
from bddtorque.compiler.pinning import load_pinned
from bddtorque.model.model import Model
from bddtorque.plan.plan import plan_from_plain
from bddtorque.robots.library import load_robot
from bddtorque.targets import float as float_target
from bddtorque.targets import integer as integer_target
from bddtorque.targets import tables as tables_target

CASCADE = Path(__file__).parents[2] / "cascade"
FACTOR = 2.2
"""Largest factor between an estimate and a count."""


def estimate_of(target: str, name: str, bits: int) -> TargetCost:
    robot = load_robot(name)
    counts, n = from_recursion(robot).graph.counts(), robot.degrees_of_freedom
    inputs = 2 * n + sum(not joint.kind.turns for joint in robot.joints)
    recursion = Recursion(counts["sums"], counts["products"], counts["sine_cosines"], inputs, n, 0, bits)
    return {cost.target: cost for cost in estimates(recursion)}[target]


def close(estimate: int, counted: int) -> bool:
    return counted / FACTOR <= estimate <= FACTOR * counted


@pytest.mark.parametrize(
    "name", ["planar2r", "planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda"]
)
def test_estimates_of_tables(name):
    """Against the plans of the built-in arms."""
    plan = plan_from_plain(load_pinned(CASCADE / f"{name}.json"))
    counted, estimate = counted_cost(Planned(plan)), estimate_of("tables", name, 12)
    assert close(estimate.look_ups, counted.look_ups)
    assert close(estimate.sums, counted.sums)
    assert (counted.products, estimate.products) == (0, 0)
    assert estimate.least_bytes <= 4 * plan.counts()["rows"] <= estimate.most_bytes


class Planned(Model):
    """A plan where a model is asked for, without any table."""

    def __init__(self, plan):
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "tables", ())


@pytest.mark.parametrize(
    ("name", "bits"),
    [("planar2r", 18), ("scara", 12), pytest.param("ur5", 12, marks=pytest.mark.everything)],
)
def test_estimates_of_floats(name, bits):
    model = compiled(name, bits=bits, target="float", **({"precision": "single"} if bits > 12 else {}))
    counted, estimate = counted_cost(model), estimate_of("float", name, bits)
    assert (estimate.look_ups, estimate.products) == (counted.look_ups, counted.products) or name == "scara"
    assert close(estimate.products, counted.products)
    assert abs(estimate.sums - counted.sums) <= 10
    assert abs(estimate.most_bytes - counted.most_bytes) <= 8


@pytest.mark.parametrize("name", ["planar2r", "scara", pytest.param("ur5", marks=pytest.mark.everything)])
def test_estimates_of_integers(name):
    counted, estimate = counted_cost(compiled(name, bits=12, target="integer")), estimate_of("integer", name, 12)
    assert estimate.look_ups == counted.look_ups
    assert close(estimate.products, counted.products)
    assert close(estimate.sums, counted.sums)
    assert estimate.least_bytes <= counted.most_bytes <= estimate.most_bytes


def test_figures_of_small_plans():
    """As counted by hand from `bddtorque plan planar2r`, 12 bits."""
    floats = counted_cost(compiled("planar2r", bits=12, target="float"))
    assert (floats.look_ups, floats.sums, floats.products) == (4, 3, 13 + 8)
    assert floats.most_bytes == pytest.approx(5 * 4096, abs=4)
    tables = counted_cost(Planned(plan_from_plain(load_pinned(CASCADE / "planar2r.json"))))
    assert (tables.look_ups, tables.sums, tables.products) == (6 + 6 * 2, 31, 0)
    rubbing = counted_cost(rubbing_arm())
    assert rubbing.look_ups == 4 + 2
    assert rubbing.most_bytes == pytest.approx(4 * (5 * 64 + 2 * 256), abs=4)


def test_no_other_plan_is_made(monkeypatch):
    """It would take as long as compiling."""

    def made(*_):
        raise AssertionError("a plan was made")

    models = arm(6), arm(6, target="float")
    monkeypatch.setattr(robot_draft, "plan_by_paper", made)
    planners = {float_target: "plan_floats", tables_target: "plan_network", integer_target: "plan_integers"}
    for module, name in planners.items():
        monkeypatch.setattr(module, name, made)
    found = {cost.target: cost for cost in target_costs(models[0])}
    assert (found["tables"].counted, found["float"].counted) == (True, False)
    found = {cost.target: cost for cost in target_costs(models[1])}
    assert (found["tables"].counted, found["float"].counted) == (False, True)
    assert found["float"].times_float == 1
    assert found["tables"].times_float == pytest.approx(found["tables"].operations / found["float"].operations)


def test_info_shows_them(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    arm(6, target="float").save(tmp_path / "arm.bdt")
    assert main(["info", str(tmp_path / "arm.bdt")]) == 0
    table = capsys.readouterr().out.partition("Cost of one state by target")[2].partition("\n\nWords")[0]
    rows = {line.split()[0]: line for line in table.splitlines() if line.startswith((" tables", " integer", " float"))}
    assert list(rows) == ["tables", "integer", "float"]
    assert " float *" in rows["float"] and " 1 × float" in rows["float"]
    assert "× float" in rows["tables"] and "~" in rows["tables"]
    assert rows["integer"].endswith(" with multiplier")  # no line is folded
    assert main(["info", str(tmp_path / "arm.bdt"), "--json"]) == 0
    targets = json.loads(capsys.readouterr().out)["targets"]
    counted = [(each["target"], each["counted"]) for each in targets]
    assert counted == [("tables", False), ("integer", False), ("float", True)]
