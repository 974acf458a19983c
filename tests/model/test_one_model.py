"""Robots and functions are one kind of model; see typed_use.py."""

import numpy as np

import bddtorque as bt


def test_a_function_shows_itself_as_a_robot_does():
    function = bt.compile_function(np.sin, inputs={"q": (4, "angle")}, output={"sine": (5, 1.1)}, name="sine")
    html = function._repr_html_()
    assert "<th>sine</th><td>4 bits, 0.3927 rad</td><td>5 bits, 0.06875 </td>" in html
    assert f"digest {function.digest[:12]}" in html
