"""Parameters from data: the method of Levenberg and Marquardt in a trust region, with the exact sensitivities of the model.

The step δ of the parameters solves (JᵀJ + λ D²) δ = −Jᵀr, where D holds the largest column norms met so far (Moré, *The
Levenberg–Marquardt algorithm: implementation and theory*, 1978) and λ follows the ratio of actual and predicted reduction
(Nielsen, 1999). It is solved for Dδ, so that the units of the parameters do not count. Bounds are kept by projection: what
would leave them stays there as long as the gradient points outwards.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gyrator._errors import CallError, GyratorError, SimulationError, UnknownName
from gyrator._result import Result
from gyrator._values import plain

if TYPE_CHECKING:
    from gyrator._model import Input, Model
    from gyrator._values import Value

Array = npt.NDArray[np.float64]


class FitError(GyratorError):
    """No values of the parameters were found."""


@dataclass(frozen=True)
class Fit:
    """What a fit came to."""

    #: The best values.
    parameters: dict[str, float]
    #: The model with them.
    model: Model
    #: Their covariance, in the order of ``parameters``; infinite for what the data do not determine.
    covariance: Array
    #: Half the width of the confidence intervals, by parameter: no standard deviation, which is the root of a variance on the
    #: diagonal of ``covariance``.
    uncertainty: dict[str, float]
    #: Their probability.
    confidence: float
    #: Root of the mean square of the weighted residuals.
    rms: float
    #: The data and the model at their times, by variable.
    time: Array
    data: dict[str, Array]
    fitted: dict[str, Array]
    #: A run with the best values.
    result: Result
    iterations: int
    #: Why it ended.
    reason: str
    #: What the data leave open.
    warnings: list[str] = field(default_factory=list)

    @property
    def residuals(self) -> dict[str, Array]:
        """Data minus model."""
        return {name: self.data[name] - self.fitted[name] for name in self.data}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Confidence intervals."""
        return {name: (p - self.uncertainty[name], p + self.uncertainty[name]) for name, p in self.parameters.items()}

    @property
    def correlation(self) -> Array:
        """The correlation of the parameters."""
        deviations = np.sqrt(np.diag(self.covariance))
        correlation: Array = self.covariance / np.outer(deviations, deviations)
        return correlation

    def plot(self) -> Any:
        """The data with the model, and the residuals below; a Matplotlib figure."""
        import matplotlib.pyplot

        figure, axes = matplotlib.pyplot.subplots(2, len(self.data), sharex=True, squeeze=False, height_ratios=(3, 1))
        units = self.result.units
        for (above, below), (name, measured) in zip(axes.T, self.data.items()):
            above.plot(self.time, measured, ".", label="data")
            above.plot(self.result.time, self.result[name], label="model")
            above.set_ylabel(f"{name} [{units[name]}]" if units[name] else name)
            above.legend()
            below.axhline(0, color="0.7")
            below.plot(self.time, self.residuals[name], ".")
            below.set_xlabel("time [s]")
            below.set_ylabel("residual")
        return figure

    def __repr__(self) -> str:
        found = ", ".join(f"{name} = {value:.6g} ± {self.uncertainty[name]:.2g}" for name, value in self.parameters.items())
        return f"<Fit: {found}>"


def _table(data: Any) -> tuple[Array, dict[str, Array]]:
    """Times and measured values of a mapping, a result or a data frame."""
    if isinstance(data, Result):
        raise CallError("give the columns that were measured: {'time': result.time, 'x': result['x']}")
    columns = {str(name): data[name] for name in (data.keys() if hasattr(data, "keys") else data.columns)}
    if "time" not in columns and getattr(getattr(data, "index", None), "name", None) == "time":
        columns["time"] = data.index
    if "time" not in columns:
        raise CallError("the data need a column `time`")
    time = _column("the column `time`", columns.pop("time"))
    measured = {name: _column(f"the column `{name}`", values) for name, values in columns.items()}
    if not measured:
        raise CallError("the data have no column besides `time`")
    if time.ndim != 1 or len(time) == 0:
        raise CallError("the data have no rows")
    if not np.all(np.isfinite(time)):
        raise CallError("the times of the data must be finite numbers")
    for name, values in measured.items():
        if values.shape != time.shape:
            raise CallError(f"`{name}` has {values.shape} values for {len(time)} times")
        if np.any(np.isinf(values)):
            raise CallError(f"`{name}` has infinite values; where nothing was measured, give NaN")
    return time, measured


def _column(what: str, given: Any) -> Array:
    """A column as numbers; what is masked was not measured."""
    values = np.ma.asarray(given) if np.ma.isMaskedArray(given) else np.asarray(given)
    first = values.flat[0] if values.size else None
    if values.dtype.kind in "Mm" or isinstance(first, (datetime.date, datetime.time, datetime.timedelta)):
        raise CallError(f"{what} has dates or durations: give numbers, times as seconds since the start of the run")
    try:
        if np.ma.isMaskedArray(values):
            return np.ma.filled(values.astype(float), np.nan)
        if values.dtype.kind == "c":
            raise TypeError("complex")
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise CallError(f"{what} has values that are no numbers, such as {_odd(values)!r}: convert it or leave it out") from None


def _odd(values: npt.NDArray[Any]) -> Any:
    """The first value that is no number."""
    for value in plain(values.ravel()):
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return None


class _Problem:
    """Residuals and their derivatives. Values that are not numbers were not measured."""

    def __init__(self, model: Model, time: Array, measured: dict[str, Array], names: list[str], settings: dict[str, Any]) -> None:
        self.model, self.time, self.measured, self.names, self.settings = model, time, measured, names, settings
        # Measurements may be repeated, and stand in any order.
        self.instants: Array = np.unique(time)
        self.sigma: dict[str, Array] = {}
        self.evaluations = 0

    def weights(self, sigma: Any) -> None:
        if isinstance(sigma, Mapping):
            for name in sigma:
                if name not in self.measured:
                    raise UnknownName(name, self.measured, "measured variable")
        for name, values in self.measured.items():
            given = sigma.get(name) if isinstance(sigma, Mapping) else 1.0 if sigma is None else sigma
            if given is None:
                raise CallError(f"`sigma` has nothing for `{name}`: give a standard deviation for each measured variable")
            deviation = _column(f"`sigma` of `{name}`", given)
            if deviation.shape not in ((), (1,), values.shape):
                raise CallError(f"`sigma` has {deviation.shape} values for the {len(values)} of `{name}`")
            self.sigma[name] = np.broadcast_to(deviation, values.shape)
            known = self.sigma[name][np.isfinite(values)]
            if not np.all((known > 0) & np.isfinite(known)):
                raise CallError(f"the standard deviation of `{name}` must be a finite number greater than zero")

    def evaluate(self, p: Array) -> tuple[Array, Array, dict[str, Array], Result]:
        self.evaluations += 1
        values = dict(zip(self.names, p.tolist()))
        values = {**self.settings["values"], **values}
        options = {key: value for key, value in self.settings.items() if key != "values"}
        found = self.model.sensitivities(self.names, list(self.measured), times=self.instants, values=values, **options)
        # Behind an event that falls on a time of the data.
        rows = np.searchsorted(found.time, self.time + 1e-14 * np.abs(self.time) + 1e-300, side="right") - 1
        if not np.allclose(found.time[rows], self.time, rtol=1e-12, atol=1e-300):
            raise SimulationError(f"the run ends at {found.time[-1]:g}, and the data go to {self.instants[-1]:g}")
        residuals, jacobian, fitted = [], [], {}
        for place, (name, measured) in enumerate(self.measured.items()):
            fitted[name] = np.array(found.result[name][rows])
            known = np.isfinite(measured)
            residuals.append(((fitted[name] - measured) / self.sigma[name])[known])
            jacobian.append((found.values[rows, place, :] / self.sigma[name][:, None])[known])
        return np.concatenate(residuals), np.concatenate(jacobian), fitted, found.result

    def rounding(self) -> float:
        """The norm of weighted residuals below which errors of integration are all that is left."""
        sizes = [(measured / self.sigma[name])[np.isfinite(measured)] for name, measured in self.measured.items()]
        return 100 * float(self.settings["tolerance"]) * float(np.linalg.norm(np.concatenate(sizes)))


def fit(
    model: Model,
    data: Any,
    parameters: Iterable[str] | Mapping[str, float],
    *,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    sigma: float | Mapping[str, npt.ArrayLike] | None = None,
    confidence: float = 0.95,
    start: float | None = None,
    tolerance: float = 1e-8,
    solver: str | None = None,
    inputs: Mapping[str, Input] | None = None,
    values: Mapping[str, Value] | None = None,
    iterations: int = 100,
    accuracy: float = 1e-9,
) -> Fit:
    """Finds the values of parameters with which the model follows data best, by least squares.

    ``data`` has a column ``time`` and a column for each measured variable: a dictionary of arrays or a data frame.
    ``parameters`` are names, or a dictionary of first guesses. ``bounds`` are pairs of the least and the largest value,
    ``None`` for open. ``sigma`` is the standard deviation of the measurements, for all or by variable; without it all values
    count alike and their deviation is estimated from the residuals. What is not a number, or masked, was not measured.
    Confidence intervals are those of the linearised problem; ``confidence`` is their probability, between 0 and 1.
    """
    names = [parameters] if isinstance(parameters, str) else list(parameters)
    for name in names:
        if names.count(name) > 1:
            raise CallError(f"`{name}` is listed more than once among the parameters to fit")
    if not 0 < confidence < 1:
        raise CallError(f"the confidence lies between 0 and 1, and {confidence:g} does not; 95 % is 0.95")
    known = model.with_parameters(dict(values or {})).parameters
    guess = np.array([_guess(known[name].value, parameters, name) for name in names])
    low, high = _bounds(names, bounds)
    if not names:
        raise CallError("there is no parameter to fit")
    time, measured = _table(data)
    for name in measured:
        if name not in model._by_name():
            raise UnknownName(name, model._by_name())
    begin = float(model.experiment["start"]) if start is None else start
    if time.min() < begin:
        raise CallError(f"the data begin at {time.min():g}, before the run, which begins at {begin:g}; give a `start`")
    settings = {"start": start, "stop": float(time.max()), "tolerance": tolerance, "solver": solver, "inputs": inputs}
    problem = _Problem(model, time, measured, names, {**settings, "values": dict(values or {})})
    problem.weights(sigma)
    p = np.clip(guess, low, high)
    residual, jacobian, fitted, result = problem.evaluate(p)
    if len(residual) < len(names):
        raise CallError(f"{len(residual)} values do not determine {len(names)} parameters")
    p, state, count, reason = _minimise(problem, p, (residual, jacobian, fitted, result), (low, high), iterations, accuracy)
    residual, jacobian, fitted, result = state
    covariance, open_ones = _covariance(names, residual, jacobian, None if sigma is not None else problem.rounding())
    seen = _visible(p, jacobian, problem.rounding())
    warnings = _unrest(p, residual, jacobian, (low, high), problem.rounding()) + open_ones
    for place in np.flatnonzero(~seen & np.any(jacobian != 0, axis=0)):
        warnings.append(f"the data hardly depend on `{names[place]}` near {p[place]:g}, where it stays; give another first guess")
    freedom = len(residual) - len(names)
    quantile = _student(0.5 + 0.5 * confidence, freedom) if sigma is None else _student(0.5 + 0.5 * confidence, 10**9)
    half = quantile * np.sqrt(np.diag(covariance))
    for name, value, least, largest in zip(names, p, low, high):
        if value in (least, largest):
            warnings.append(f"`{name}` lies at its bound {value:g}, where its interval is not symmetric")
    best = dict(zip(names, p.tolist()))
    together = model.with_parameters({**(values or {}), **best})
    smooth = together.simulate(start=start, stop=float(time.max()), tolerance=tolerance, solver=solver, inputs=inputs)
    return Fit(
        best, together, covariance, dict(zip(names, half.tolist())), confidence, float(np.sqrt(np.mean(residual**2))),
        time, measured, fitted, smooth, count, reason, warnings,
    )  # fmt: skip


def _guess(value: float | int | bool | str | None, parameters: object, name: str) -> float:
    given = parameters[name] if isinstance(parameters, Mapping) else value
    if given is None:
        raise CallError(f"`{name}` has no value to begin with")
    if isinstance(given, str):
        raise CallError(f"`{name}` is no number, so it cannot be fitted")
    return float(given)


def _bounds(names: list[str], bounds: Mapping[str, tuple[float | None, float | None]] | None) -> tuple[Array, Array]:
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for name, (least, largest) in (bounds or {}).items():
        if name not in names:
            raise UnknownName(name, names, "parameter to fit")
        place = names.index(name)
        low[place] = -np.inf if least is None else least
        high[place] = np.inf if largest is None else largest
        if not low[place] < high[place]:
            raise CallError(f"the bounds of `{name}` leave no value")
    return low, high


def _minimise(
    problem: _Problem,
    p: Array,
    state: tuple[Array, Array, dict[str, Array], Result],
    bounds: tuple[Array, Array],
    iterations: int,
    accuracy: float,
) -> tuple[Array, tuple[Array, Array, dict[str, Array], Result], int, str]:
    low, high = bounds
    scale = np.linalg.norm(state[1], axis=0)
    damping, growth = 1e-3, 2.0
    for count in range(1, iterations + 1):
        residual, jacobian = state[0], state[1]
        scale = np.maximum(scale, np.linalg.norm(jacobian, axis=0))
        diagonal = np.where(scale > 0, scale, 1.0)
        gradient = jacobian.T @ residual
        free = ~(((p <= low) & (gradient > 0)) | ((p >= high) & (gradient < 0)))
        free &= _visible(p, jacobian, problem.rounding())
        cost = 0.5 * float(residual @ residual)
        size = np.linalg.norm(residual) * diagonal
        if not np.any(free) or np.all(np.abs(gradient[free]) <= accuracy * np.maximum(size[free], 1e-300)):
            return p, state, count, "the gradient vanishes"
        while True:
            # As a problem of least squares, which keeps the digits that JᵀJ would lose.
            left = np.vstack([jacobian[:, free] / diagonal[free], math.sqrt(damping) * np.eye(int(free.sum()))])
            right = np.concatenate([-residual, np.zeros(int(free.sum()))])
            step = np.zeros(len(p))
            step[free] = np.linalg.lstsq(left, right, rcond=None)[0] / diagonal[free]
            trial = np.clip(p + step, low, high)
            step = trial - p
            if np.all(np.abs(step) <= accuracy * (np.abs(p) + accuracy)):
                return p, state, count, "the step vanishes"
            linear = residual + jacobian @ step
            predicted = cost - 0.5 * float(linear @ linear)
            try:
                tried = problem.evaluate(trial)
                actual = cost - 0.5 * float(tried[0] @ tried[0])
            except SimulationError:
                # The model cannot run there: no further than that.
                tried, actual = state, -math.inf
            ratio = actual / predicted if predicted > 0 else -1.0
            if ratio > 1e-4 and actual > 0:
                damping *= max(1 / 3, 1 - (2 * ratio - 1) ** 3)
                growth = 2.0
                p, state = trial, tried
                if actual <= accuracy**1.5 * cost:
                    return p, state, count, "the residuals do not become smaller"
                if math.sqrt(2 * cost) <= problem.rounding() and actual <= 0.1 * cost:
                    return p, state, count, "the residuals are errors of integration"
                break
            damping, growth = damping * growth, growth * 2
            if damping > 1e30:
                return p, state, count, "the residuals do not become smaller"
    raise FitError(f"after {iterations} iterations the fit has not come to rest; give better first guesses or bounds")


def _visible(p: Array, jacobian: Array, rounding: float) -> npt.NDArray[np.bool_]:
    """The parameters that change the model by more than errors of integration when they change by their own size. The
    derivatives of the others are no more than such errors, so they wait until they can be seen."""
    seen = (p == 0) | (np.linalg.norm(jacobian, axis=0) * np.abs(p) > rounding)
    return seen if np.any(seen) else np.ones_like(seen)


def _unrest(p: Array, residual: Array, jacobian: Array, bounds: tuple[Array, Array], rounding: float) -> list[str]:
    """A warning where a step of the linearised problem would still reduce the residuals."""
    size = float(np.linalg.norm(residual))
    gradient = jacobian.T @ residual
    norms = np.linalg.norm(jacobian, axis=0)
    free = (norms > 0) & ~(((p <= bounds[0]) & (gradient > 0)) | ((p >= bounds[1]) & (gradient < 0)))
    if size <= rounding or not np.any(free):
        return []
    columns = jacobian[:, free] / norms[free]
    reached = columns @ np.linalg.lstsq(columns, residual, rcond=None)[0]
    if float(np.linalg.norm(reached)) <= 1e-3 * size:
        return []
    return ["the fit has not come to a minimum: the values are no best ones; give other first guesses or bounds"]


def _covariance(names: list[str], residual: Array, jacobian: Array, rounding: float | None) -> tuple[Array, list[str]]:
    """(JᵀJ)⁻¹ by singular values, in units in which all columns are alike. What the data leave open has an infinite
    variance, and the other parameters have that of the combinations which are determined. With `rounding` the deviation of the
    data is estimated from the residuals; errors of integration, which are no smaller than that, are no better known."""
    scale = np.linalg.norm(jacobian, axis=0)
    warnings = [f"the data do not depend on `{name}`" for name, size in zip(names, scale) if size == 0]
    unit = np.where(scale > 0, scale, 1.0)
    _, singular, rows = np.linalg.svd(jacobian / unit, full_matrices=False)
    is_open = singular <= 1e-10 * singular[0]
    share = np.max(np.abs(rows[is_open]), axis=0, initial=0.0)
    together = [name for name, weight, size in zip(names, share, scale) if weight > 0.1 * share.max() and size > 0]
    if np.any(is_open) and together:
        warnings.append("the data determine only a combination of " + ", ".join(f"`{name}`" for name in together))
    variance = 1.0
    if rounding is not None:
        variance = max(float(residual @ residual), rounding**2) / max(len(residual) - len(names) + int(is_open.sum()), 1)
    known = rows[~is_open]
    covariance: Array = variance * ((known.T / singular[~is_open] ** 2) @ known) / np.outer(unit, unit)
    undetermined = share > 1e-6
    covariance[undetermined, :] = covariance[:, undetermined] = np.inf
    return covariance, warnings


def _student(probability: float, freedom: int) -> float:
    """The quantile of Student's distribution, by bisection of its integral."""
    if freedom < 1:
        return math.inf
    if freedom > 10**6:
        from statistics import NormalDist

        return NormalDist().inv_cdf(probability)
    low, high = 0.0, 1.0
    while _student_tail(high, freedom) > 1 - probability:
        high *= 2
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _student_tail(middle, freedom) > 1 - probability else (low, middle)
    return 0.5 * (low + high)


def _student_tail(t: float, freedom: int) -> float:
    """The probability of a larger value than t ≥ 0: half the regularised incomplete beta function."""
    x = freedom / (freedom + t * t)
    return 0.5 * _incomplete_beta(0.5 * freedom, 0.5, x)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """By its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + numerator * d) or tiny)
            c = (1 + numerator / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * value / a
