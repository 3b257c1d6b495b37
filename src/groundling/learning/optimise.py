"""Minimisation by L-BFGS, with L1 and L2 penalties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Reals = NDArray[np.float64]


def minimise(
    loss: Callable[[Reals], tuple[float, Reals]],
    start: Reals,
    *,
    l1: float = 0.0,
    l2: float | Reals = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-7,
    progress: Callable[[int, float], object] | None = None,
) -> tuple[float, Reals, bool]:
    """Minimise loss(θ) + l1·Σ|θ| + l2/2·Σθ² by L-BFGS.

    Returns the minimum, its θ, and whether L-BFGS converged. `l2` may differ for each weight.
    `progress` is called after every iteration, and may return True to stop. For L1, θ is written as
    the difference of two non-negative vectors, so that the objective stays smooth and weights can
    become exactly zero.

    >>> value, theta, done = minimise(lambda t: (float((t - 3) @ (t - 3)), 2 * (t - 3)),
    ...                               np.zeros(2), l2=2.0)
    >>> [round(each, 4) for each in theta.tolist()], done
    ([1.5, 1.5], True)
    >>> value, theta, done = minimise(lambda t: (0.5 * float((t - [3, .5]) @ (t - [3, .5])),
    ...                               t - [3, .5]), np.zeros(2), l1=1.0)
    >>> [round(each, 4) for each in theta.tolist()]
    [2.0, 0.0]
    """
    size = len(start)
    if size == 0:
        return loss(start)[0], start.copy(), True
    done = 0

    def penalised(theta: Reals) -> tuple[float, Reals]:
        value, gradient = loss(theta)
        return value + 0.5 * float(l2 * theta @ theta), gradient + l2 * theta

    def split(both: Reals) -> tuple[float, Reals]:
        value, gradient = penalised(both[:size] - both[size:])
        return value + l1 * float(both.sum()), np.concatenate([gradient + l1, l1 - gradient])

    def callback(intermediate_result: Any) -> None:
        nonlocal done
        done += 1
        if progress is not None and progress(done, float(intermediate_result.fun)) is True:
            raise StopIteration

    options: Any = {"maxiter": iterations, "maxfun": 4 * iterations + 20, "ftol": tolerance,
               "gtol": 1e-9, "maxcor": 10}  # fmt: skip
    if l1 > 0:
        both = np.concatenate([np.maximum(start, 0.0), np.maximum(-start, 0.0)])
        result = minimize(split, both, jac=True, method="L-BFGS-B", callback=callback,
                          bounds=[(0.0, None)] * (2 * size), options=options)  # fmt: skip
        theta = result.x[:size] - result.x[size:]
    else:
        result = minimize(penalised, start, jac=True, method="L-BFGS-B", callback=callback,
                          options=options)  # fmt: skip
        theta = result.x
    # Status 2: up to rounding, no step lowers the loss further.
    return float(result.fun), np.ascontiguousarray(theta), bool(result.status in (0, 2))
