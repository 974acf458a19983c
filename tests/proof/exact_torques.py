"""Newton-Euler with 60 digits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler

mp = mpmath.mp.clone()
mp.dps = 60
digits = np.vectorize(mp.mpf, otypes=[object])


def exact_torques(chain: Chain, q: Any, qd: Any, qdd: Any) -> np.ndarray:
    """Return the torques of the members of a chain."""
    q, qd, qdd = map(digits, (q, qd, qdd))
    sine, cosine = (np.array([turn(angle) for angle in q], dtype=object) for turn in (mp.sin, mp.cos))
    tau, wrench = np.zeros(len(q), dtype=object), np.zeros((len(q), WRENCH), dtype=object)
    newton_euler(chain, sine, cosine, q, qd, qdd, tau, wrench)
    return tau
