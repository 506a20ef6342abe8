"""Many runs of one model: a design of values, runs on threads with one translated program, a table of what came of them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gyrator._errors import CallError, GyratorError
from gyrator._result import Result

if TYPE_CHECKING:
    from gyrator._model import Model

#: Values of a parameter: a list, or the first, the last and how many.
Values = Sequence[float] | tuple[float, float, int] | npt.NDArray[Any]
#: One variant.
Variant = dict[str, float]


@dataclass(frozen=True)
class Sweep:
    """What came of many runs. ``runs[k]`` is the result of ``variants[k]``, or the exception that it ended with."""

    variants: list[Variant]
    runs: list[Result | GyratorError]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[tuple[Variant, Result | GyratorError]]:
        return zip(self.variants, self.runs)

    def __getitem__(self, place: int) -> Result | GyratorError:
        return self.runs[place]

    @property
    def failures(self) -> list[tuple[Variant, GyratorError]]:
        """The variants that failed."""
        return [(variant, run) for variant, run in self if isinstance(run, GyratorError)]

    def last(self, name: str) -> npt.NDArray[np.float64]:
        """The values of a variable at the ends of the runs; not a number for those that failed."""
        return np.array([np.nan if isinstance(run, GyratorError) else run.last(name) for run in self.runs])

    def reduce(self, function: Callable[[Result], float]) -> npt.NDArray[np.float64]:
        """A number of each run; not a number for those that failed."""
        return np.array([np.nan if isinstance(run, GyratorError) else float(function(run)) for run in self.runs])

    def to_pandas(self, *names: str) -> Any:
        """A ``pandas.DataFrame`` with a row for each variant: its values, and variables at the ends of the runs."""
        import pandas

        frame = pandas.DataFrame(self.variants)
        for name in names:
            frame[name] = self.last(name)
        return frame

    def __repr__(self) -> str:
        failed = len(self.failures)
        return f"<Sweep of {len(self)} runs{f', {failed} failed' if failed else ''}>"


def variants(vary: Mapping[str, Values] | Iterable[Mapping[str, float]]) -> list[Variant]:
    """The product of all values; or the variants as they are listed.

    >>> variants({"R": (1, 3, 3), "C": [10, 20]})[:3]
    [{'R': 1.0, 'C': 10.0}, {'R': 1.0, 'C': 20.0}, {'R': 2.0, 'C': 10.0}]
    """
    if not isinstance(vary, Mapping):
        listed = [{name: float(value) for name, value in variant.items()} for variant in vary]
        if len({tuple(variant) for variant in listed}) > 1:
            raise CallError("all variants have to set the same parameters")
        return listed
    axes = [[(name, value) for value in _values(name, given)] for name, given in vary.items()]
    return [dict(chosen) for chosen in itertools.product(*axes)]


def _values(name: str, given: Values) -> list[float]:
    if isinstance(given, tuple) and len(given) == 3 and isinstance(given[2], (int, np.integer)):
        if given[2] < 1:
            raise CallError(f"`{name}` needs one value or more")
        values: list[float] = np.linspace(given[0], given[1], int(given[2])).tolist()
    else:
        values = [float(value) for value in given]
    if not values:
        raise CallError(f"`{name}` has no values")
    return values


def sweep(
    model: Model,
    vary: Mapping[str, Values] | Iterable[Mapping[str, float]],
    *,
    keep: Iterable[str] | None = None,
    threads: int | None = None,
    callback: Callable[[int, int], object] | None = None,
    **settings: Any,
) -> Sweep:
    """Runs a model for each variant of its parameters, on threads that share one translated program.

    ``vary`` has for each parameter a list of values, or ``(first, last, count)``; all combinations are run. It may also be a
    list of variants. ``settings`` are those of :meth:`Model.simulate`; ``keep`` names the variables that are kept. Values of
    structural parameters are translated once each. A run that fails is the exception in place of its result. ``callback`` is
    called with the numbers of runs that are finished and of all.

    >>> import gyrator
    >>> model = gyrator.loads("model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;")
    >>> found = gyrator.sweep(model, {"k": (1, 3, 3)}, stop=1, keep=["x"])
    >>> found.last("x").round(4).tolist()
    [0.3679, 0.1353, 0.0498]
    """
    wanted = variants(vary)
    return Sweep(wanted, run_variants(model, wanted, None if keep is None else list(keep), threads, callback, settings))


def run_variants(
    model: Model,
    wanted: list[Variant],
    keep: list[str] | None,
    threads: int | None,
    callback: Callable[[int, int], object] | None,
    settings: Mapping[str, Any],
) -> list[Result | GyratorError]:
    """The runs of variants, in their order."""
    if not wanted:
        return []
    known = model.parameters
    structural = [name for name in wanted[0] if known[name].structural]
    free = [name for name in wanted[0] if name not in structural]
    groups: dict[tuple[float, ...], list[int]] = {}
    for place, variant in enumerate(wanted):
        groups.setdefault(tuple(variant[name] for name in structural), []).append(place)
    runs: list[Result | GyratorError] = [CallError("not run")] * len(wanted)
    finished = 0
    for chosen, places in groups.items():

        def progress(count: int, _: int, before: int = finished) -> None:
            if callback is not None:
                callback(before + count, len(wanted))

        found = _run_group(model, dict(zip(structural, chosen)), free, [wanted[k] for k in places], keep, threads,
                           progress if callback else None, settings)  # fmt: skip
        for place, run in zip(places, found):
            runs[place] = run
        finished += len(places)
    return runs


def _run_group(
    model: Model,
    chosen: Variant,
    free: list[str],
    group: list[Variant],
    keep: list[str] | None,
    threads: int | None,
    callback: Callable[[int, int], object] | None,
    settings: Mapping[str, Any],
) -> list[Result | GyratorError]:
    """The runs of variants that share a translation."""
    from gyrator._model import _settings

    try:
        together: dict[str, Any] = {**settings}
        parameters = together.pop("parameters", None)
        prepared = _settings(together)
        unknown = sorted(set(together) - set(prepared))
        if any(together[name] is not None for name in unknown):
            raise CallError(f"`{unknown[0]}` is no setting of a run; parameters stand in `parameters`")
        base = model._prepared(prepared, parameters, chosen)
    except GyratorError as error:
        if isinstance(error, CallError):
            raise
        return [error] * len(group)
    wanted = None if keep is None else base._check(keep)
    rows = [[variant[name] for name in free] for variant in group]
    count = threads if threads is not None else os.cpu_count() or 1
    found = base._native.sweep(prepared, free, rows, wanted, count, callback)
    return [run if isinstance(run, GyratorError) else base._result(run) for run in found]
