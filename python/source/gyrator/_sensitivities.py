"""Derivatives of trajectories with respect to parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gyrator._errors import CallError, UnknownName
from gyrator._result import Result

Array = npt.NDArray[np.float64]


class Sensitivities:
    """How a run changes with parameters: ``found["x", "k"]`` is ∂x/∂k for each row of ``found.result``."""

    def __init__(
        self, result: Result, values: Array, variables: list[str], parameters: list[str], differenced: list[str]
    ) -> None:
        #: The run.
        self.result = result
        #: Rows, variables, parameters.
        self.values = values
        self.variables = variables
        self.parameters = parameters
        #: Functions without a derivative that the model calls: what depends on them is a difference.
        self.differenced = differenced

    @property
    def time(self) -> Array:
        """The time of each row."""
        return self.result.time

    def __getitem__(self, names: tuple[str, str]) -> Array:
        if not (isinstance(names, tuple) and len(names) == 2):
            raise CallError(f"a variable and a parameter are needed here, as in `found[\"x\", \"p\"]`, not {names!r}")
        variable, parameter = names
        if variable not in self.variables:
            raise UnknownName(variable, self.variables)
        if parameter not in self.parameters:
            raise UnknownName(parameter, self.parameters, "parameter")
        column: Array = self.values[:, self.variables.index(variable), self.parameters.index(parameter)]
        return column

    def to_xarray(self) -> Any:
        """An ``xarray.DataArray`` over time, variable and parameter."""
        import xarray

        coordinates = {"time": self.time, "variable": self.variables, "parameter": self.parameters}
        return xarray.DataArray(self.values, coords=coordinates, dims=("time", "variable", "parameter"))

    def __repr__(self) -> str:
        return f"<Sensitivities of {len(self.variables)} variables with respect to {', '.join(self.parameters)}>"
