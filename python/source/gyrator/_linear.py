"""Linear models at a point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LinearModel:
    """A model near a point: ẋ = A x + B u, y = C x + D u for small changes."""

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    #: The point.
    time: float = 0.0
    state_values: Matrix = field(default_factory=lambda: np.zeros(0))
    input_values: Matrix = field(default_factory=lambda: np.zeros(0))
    #: The structural conditions that hold, in a model whose structure changes.
    mode: str | None = None
    #: What the matrices do not show of the model.
    notes: list[str] = field(default_factory=list)

    @classmethod
    def _of(cls, found: dict[str, Any]) -> LinearModel:
        n, m, p = len(found["states"]), len(found["inputs"]), len(found["outputs"])
        shapes = {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m)}
        for name, shape in shapes.items():
            found[name] = np.array(found[name], dtype=float).reshape(shape)
        for name in ("state_values", "input_values"):
            found[name] = np.array(found[name], dtype=float)
        return cls(**found)

    @property
    def poles(self) -> npt.NDArray[np.complex128]:
        """The eigenvalues of A."""
        return np.linalg.eigvals(self.A).astype(np.complex128)

    def to_control(self) -> Any:
        """A ``control.StateSpace`` with the names of states, inputs and outputs."""
        import control

        def plain(names: list[str]) -> list[str]:
            # Dots separate systems from signals there.
            return [name.replace(".", "_") for name in names]

        return control.StateSpace(
            self.A,
            self.B,
            self.C,
            self.D,
            states=plain(self.states),
            inputs=plain(self.inputs),
            outputs=plain(self.outputs),
        )
