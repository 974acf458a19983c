"""What users write, for `make types`: mypy must accept every line but those that say which error it finds there.

An error that mypy no longer finds is one too: its `type: ignore` would be unused. This module is never run.
"""

import numpy as np
import numpy.typing as npt

import bddtorque as bt
from bddtorque.spec import load_spec

# robots and functions are one kind of model
model: bt.Model = bt.load("arm.bdt")
tau: npt.NDArray[np.float64] = bt.load("arm.bdt").torque([0.1, 0.2])
words: npt.NDArray[np.int64] = model.torque_words([1, 2])
bound: float = bt.load("law.bdt").certificate.bound
shown = bt.load("law.bdt").value(0.5), model.evaluator().torque([0.1, 0.2]), bt.load("law.bdt").rules
misspelt = model.torqe  # type: ignore[attr-defined]

# options are known by name and by value
bt.compile("ur5", bits=8, velocity=[1.0, [-1.0, "20 deg/s"]], torque={"elbow_joint": [-1, 2]}, memory="1 GiB")
bt.compile("ur5", bits=[8] * 6, input_bits={"position": 10}, lock="others", tip=None, accuracy=0.75, target="float")
load_spec("ur5").with_options(bits=8)
bt.load_robot("arm.urdf", tip="tool", lock={"gripper": 0.0}, gravity=(0.0, 0.0, -1.0))
bt.compile("ur5", bit=8)  # type: ignore[call-arg]
bt.compile("ur5", target="fpga")  # type: ignore[arg-type]
load_spec("ur5").with_options(accuracy="fair")  # type: ignore[arg-type]
bt.load_robot("arm.urdf", tipp="tool")  # type: ignore[call-arg]
