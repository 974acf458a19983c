"""bddtorque: robot dynamics as fixed-point code with a proved worst-case error.

Names are loaded when first used, so that a controller that only evaluates never imports the compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bddtorque.base.version import __version__

if TYPE_CHECKING:
    from bddtorque.base.errors import BddTorqueError, ClampWarning
    from bddtorque.compiler.compiling import compile, compile_function, compile_samples
    from bddtorque.compiler.verify import verify
    from bddtorque.dynamics.batch import inverse_dynamics
    from bddtorque.dynamics.matrices import bias, forward_dynamics, gravity_torque, mass_matrix
    from bddtorque.dynamics.robot_lint import lint
    from bddtorque.dynamics.robot_trace import trace_torques
    from bddtorque.dynamics.terms import terms_of
    from bddtorque.evaluate.evaluator import Evaluator
    from bddtorque.export.c_exporter import export_c
    from bddtorque.export.logic import export_blif, export_pla
    from bddtorque.export.one_bit_exporter import export_one_bit
    from bddtorque.export.verilog_exporter import export_verilog
    from bddtorque.model.model import Model, load
    from bddtorque.proof.certificate import Certificate
    from bddtorque.questions.asking import ask
    from bddtorque.report import write_report
    from bddtorque.robots import load_robot
    from bddtorque.robots.robot import Robot
    from bddtorque.spec import Spec, load_spec
    from bddtorque.sweeps.running import sweep
    from bddtorque.words.friction import Friction

_HOME = {
    "BddTorqueError": "base.errors",
    "Certificate": "proof.certificate",
    "ClampWarning": "base.errors",
    "Evaluator": "evaluate.evaluator",
    "Friction": "words.friction",
    "Model": "model.model",
    "Robot": "robots.robot",
    "Spec": "spec",
    "ask": "questions.asking",
    "bias": "dynamics.matrices",
    "compile": "compiler.compiling",
    "compile_function": "compiler.compiling",
    "compile_samples": "compiler.compiling",
    "export_blif": "export.logic",
    "export_c": "export.c_exporter",
    "export_one_bit": "export.one_bit_exporter",
    "export_pla": "export.logic",
    "export_verilog": "export.verilog_exporter",
    "forward_dynamics": "dynamics.matrices",
    "gravity_torque": "dynamics.matrices",
    "inverse_dynamics": "dynamics.batch",
    "load": "model.model",
    "load_robot": "robots",
    "load_spec": "spec",
    "mass_matrix": "dynamics.matrices",
    "sweep": "sweeps.running",
    "terms_of": "dynamics.terms",
    "lint": "dynamics.robot_lint",
    "trace_torques": "dynamics.robot_trace",
    "verify": "compiler.verify",
    "write_report": "report",
}

__all__ = [
    "BddTorqueError",
    "Certificate",
    "ClampWarning",
    "Evaluator",
    "Friction",
    "Model",
    "Robot",
    "Spec",
    "__version__",
    "ask",
    "bias",
    "compile",
    "compile_function",
    "compile_samples",
    "export_blif",
    "export_c",
    "export_one_bit",
    "export_pla",
    "export_verilog",
    "forward_dynamics",
    "gravity_torque",
    "inverse_dynamics",
    "lint",
    "load",
    "load_robot",
    "load_spec",
    "mass_matrix",
    "sweep",
    "terms_of",
    "trace_torques",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
