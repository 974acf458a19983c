"""Robots and functions are one kind of model: for a type checker, and for code written for the old name."""

import numpy as np
import pytest
from type_checking import type_errors

import bddtorque as bt

CODE = """
import bddtorque as bt
import numpy as np
import numpy.typing as npt

model: bt.Model = bt.load("arm.bdt")
tau: npt.NDArray[np.float64] = bt.load("arm.bdt").torque([0.1, 0.2])
words: npt.NDArray[np.int64] = model.torque_words([1, 2])
bound: float = bt.load("law.bdt").certificate.bound
old: bt.FunctionModel = bt.load("law.bdt")
print(bt.load("law.bdt").value(0.5), model.evaluator().torque([0.1, 0.2]), old.rules)
"""


@pytest.mark.slow
def test_a_users_code_passes_a_strict_type_checker(tmp_path):
    assert type_errors(CODE, tmp_path) == []
    (found,) = type_errors(CODE + "print(model.torqe)\n", tmp_path)
    assert 'has no attribute "torqe"' in found


def test_the_old_name_is_the_same_class_and_says_so():
    with pytest.warns(DeprecationWarning, match=r"bt\.FunctionModel is now bt\.Model"):
        assert bt.FunctionModel is bt.Model
    assert "FunctionModel" not in bt.__all__  # or a star import would warn


def test_a_function_shows_itself_as_a_robot_does():
    function = bt.compile_function(np.sin, inputs={"q": (4, "angle")}, output={"sine": (5, 1.1)}, name="sine")
    html = function._repr_html_()
    assert "<th>sine</th><td>4 bits, 0.3927 rad</td><td>5 bits, 0.06875 </td>" in html
    assert f"digest {function.digest[:12]}" in html
