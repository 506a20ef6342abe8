"""Modelica models as Python objects: simulate, differentiate, fit and sweep them.

>>> import gyrator
>>> model = gyrator.loads('''
... model Cup "A cup of tea"
...   parameter Real k(unit = "1/s") = 0.002 "How fast it cools";
...   parameter Real outside(unit = "K") = 293.15;
...   Real T(unit = "K", start = 363.15, fixed = true);
... equation
...   der(T) = -k*(T - outside);
... end Cup;
... ''')
>>> result = model.simulate(stop=1800)
>>> print(f"{result['T'][-1]:.2f} {result.units['T']}")
295.06 K
>>> warm = model.simulate(stop=1800, outside=303.15)
>>> print(f"{warm['T'][-1]:.2f}")
304.79
"""

from gyrator._errors import CallError, Diagnostic, GyratorError, ModelError, SimulationError, UnknownName
from gyrator._fit import Fit, FitError
from gyrator._gyrator import __version__
from gyrator._linear import LinearModel
from gyrator._model import Model, Parameter, Parameters, check, load, loads
from gyrator._result import Picture, Result
from gyrator._sensitivities import Sensitivities
from gyrator._simulation import Simulation
from gyrator._sweep import Index, Normal, Range, Sweep, log, normal, sweep
from gyrator._values import Expression, Variable

__all__ = [
    "CallError",
    "Diagnostic",
    "Expression",
    "Fit",
    "FitError",
    "GyratorError",
    "Index",
    "LinearModel",
    "Model",
    "ModelError",
    "Normal",
    "Parameter",
    "Parameters",
    "Picture",
    "Range",
    "Result",
    "Sensitivities",
    "Simulation",
    "SimulationError",
    "Sweep",
    "UnknownName",
    "Variable",
    "__version__",
    "check",
    "load",
    "loads",
    "log",
    "normal",
    "sweep",
]
