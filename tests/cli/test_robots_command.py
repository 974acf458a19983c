"""`robots`: the built-in robots as a table and as JSON."""

import json
import math

from bddtorque.cli.robots_command import robot_figures
from bddtorque.robots import Joint, Link, Robot, builtin_names, load_robot


def test_table(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = run("robots").out
    for part in (*builtin_names(), "RRPRRR", "±160°", "0.3048..1.27 m"):
        assert part in text


def test_json_is_whole_at_any_width(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    robots = {robot["name"]: robot for robot in json.loads(run("robots", "--json").out)}
    assert tuple(robots) == builtin_names()
    planar = robots["planar2r"]
    assert (planar["degrees_of_freedom"], planar["types"]) == (2, "RR")
    assert planar["joints"][0]["lower"] == -math.pi
    assert planar["source"] == load_robot("planar2r").source


def test_unlimited_joints():
    figures = robot_figures(Robot("free", (Joint("a", "revolute"),), (Link("b", 1.0),)))
    assert figures["ranges"] == ["any"]
    assert figures["joints"][0]["upper"] is None
    json.dumps(figures, allow_nan=False)
