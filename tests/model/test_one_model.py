"""Robots and functions are one kind of model, also for code written for the old name; see typed_use.py."""

import numpy as np
import pytest

import bddtorque as bt


def test_the_old_name_is_the_same_class_and_says_so():
    with pytest.warns(DeprecationWarning, match=r"bt\.FunctionModel is now bt\.Model"):
        assert bt.FunctionModel is bt.Model
    assert "FunctionModel" not in bt.__all__  # or a star import would warn


def test_a_function_shows_itself_as_a_robot_does():
    function = bt.compile_function(np.sin, inputs={"q": (4, "angle")}, output={"sine": (5, 1.1)}, name="sine")
    html = function._repr_html_()
    assert "<th>sine</th><td>4 bits, 0.3927 rad</td><td>5 bits, 0.06875 </td>" in html
    assert f"digest {function.digest[:12]}" in html
