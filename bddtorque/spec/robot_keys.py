"""What a specification says of its robot: the chain to take from a URDF, gravity, what the tip carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.spec.parsing import as_flag, as_lock, as_text, as_vector, is_list, is_number, listed
from bddtorque.spec.records import Payload

if TYPE_CHECKING:
    from bddtorque.spec.spec import Spec

URDF_KEYS = ("base", "tip", "lock", "snap", "ignore_friction", "allow_massless", "allow_unphysical")
"""Keys that only mean something where the robot is a URDF file: the options of its reader."""
LARGEST_SNAP = 1e-3
_PAYLOAD_KEYS = tuple(Payload.__dataclass_fields__)


def checked_robot_keys(spec: Spec, where: str) -> dict[str, Any]:
    """Return the keys that a specification says of its robot, each as it is kept, or refuse."""
    found: dict[str, Any] = {
        key: as_flag(getattr(spec, key), f"{where}, {key}")
        for key in ("ignore_friction", "allow_massless", "allow_unphysical")
    }
    for key in ("base", "tip"):
        if getattr(spec, key) is not None:
            found[key] = as_text(getattr(spec, key), f"{where}, {key}", "the name of a link")
    if spec.lock is not None:
        found["lock"] = as_lock(spec.lock, f"{where}, lock")
    if spec.gravity is not None:
        found["gravity"] = as_vector(spec.gravity, f"{where}, gravity", "x, y and z in m/s², in base axes,")
    if spec.payload is not None:
        found["payload"] = as_payload(spec.payload, where)
    if spec.snap is not None:
        if not (is_number(spec.snap) and 0 <= spec.snap <= LARGEST_SNAP):
            raise BddTorqueError(f"{where}, snap: from 0 to {LARGEST_SNAP} required, {spec.snap!r:.60} given")
        found["snap"] = float(spec.snap)
    return found


def as_payload(given: object, where: str) -> Payload:
    """Return a payload from a mass, a mass with the centre's x, y and z, or a table."""
    given = listed(given)
    try:
        if isinstance(given, Payload):
            return given
        if is_number(given):
            return Payload(given)
        if is_list(given) and len(given) == 4:
            return Payload(given[0], tuple(given[1:]))
        if isinstance(given, Mapping):
            for key in given:
                if key not in _PAYLOAD_KEYS:
                    known = ", ".join(_PAYLOAD_KEYS)
                    raise BddTorqueError(
                        f"payload: keys {known} required, {key!r:.60} given{nearest(str(key), _PAYLOAD_KEYS)}"
                    )
            return Payload(**given)
    except BddTorqueError as problem:
        raise BddTorqueError(f"{where}, {problem}") from None
    what = "a mass in kg, or mass, x, y and z of its centre in m, or a table with mass, centre_of_mass, inertia,"
    raise BddTorqueError(f"{where}, payload: {what} required, {given!r:.60} given")


def urdf_options(spec: Spec) -> dict[str, Any]:
    """Return what a specification asks of the reader of URDF files, by the names that it knows."""
    options = {key: getattr(spec, key) for key in URDF_KEYS}
    if isinstance(spec.lock, tuple):
        options["lock"] = dict(spec.lock)
    return {key: value for key, value in options.items() if value is not None and value is not False}
