"""Many runs of one model: a design of values, runs on threads with one translated program, a table of what came of them."""

from __future__ import annotations

import itertools
import math
import operator
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gyrator import _gyrator
from gyrator._errors import CallError, GyratorError
from gyrator._journal import Journal
from gyrator._progress import Progress
from gyrator._result import Result
from gyrator._values import Expression, Value, plain

if TYPE_CHECKING:
    from gyrator._model import Model

#: One variant.
Variant = dict[str, Any]
#: More variants than these are a slip of the pen.
_MOST = 10_000_000
#: A number of each run: the name of a variable, which means its last value, or a function of a result.
Quantity = str | Callable[[Result], float]


@dataclass(frozen=True)
class Range:
    """Numbers from one end to the other; ``count`` of them in a grid."""

    low: float
    high: float
    count: int | None = None
    #: Evenly on a logarithmic scale.
    log: bool = False


@dataclass(frozen=True)
class Normal:
    """A normal distribution, for samples."""

    mean: float
    deviation: float
    count: int | None = None


def log(low: float, high: float, count: int | None = None) -> Range:
    """Numbers that are even on a logarithmic scale.

    >>> [round(variant["C"], 9) for variant in variants({"C": log(1, 100, 3)})]
    [1.0, 10.0, 100.0]
    """
    return Range(low, high, count, log=True)


def normal(mean: float, deviation: float, count: int | None = None) -> Normal:
    """A normal distribution, for samples."""
    return Normal(mean, deviation, count)


#: Values of a parameter: a list; the first, the last and, but for samples, how many; a range or distribution; one value.
Values = Sequence[Value] | tuple[float, float, int] | npt.NDArray[Any] | Range | Normal | Value


@dataclass(frozen=True)
class Index:
    """How much of the variance of a quantity a parameter explains: Sobol' indices with the half widths of their 95 % intervals."""

    first: float
    total: float
    first_error: float
    total_error: float


@dataclass(frozen=True)
class Sweep:
    """What came of many runs. ``runs[k]`` is the result of ``variants[k]``, or the exception that it ended with."""

    variants: list[Variant]
    runs: list[Result | GyratorError]
    #: How the variants were chosen: ``"grid"``, ``"list"``, ``"one-at-a-time"`` or the kind of the samples.
    sampling: str = "list"

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
        return self.reduce(lambda run: run.last(name))

    def reduce(self, function: Quantity) -> npt.NDArray[np.float64]:
        """A number of each run; not a number for those that failed."""
        if isinstance(function, str):
            return self.last(function)
        return np.array([np.nan if isinstance(run, GyratorError) else float(function(run)) for run in self.runs])

    def to_pandas(self, *names: str, statistics: bool = False) -> Any:
        """A ``pandas.DataFrame`` with a row for each variant: its values, how it ended, and variables at the ends of the runs;
        with ``statistics`` their smallest and largest values and their means over time, too."""
        import pandas

        frame = pandas.DataFrame(self.variants)
        frame["status"] = [_status(run) for run in self.runs]
        frame["message"] = [_message(run) for run in self.runs]
        for name in names:
            frame[name] = self.last(name)
            if statistics:
                frame[f"min({name})"] = self.reduce(lambda run: float(run[name].min()))
                frame[f"max({name})"] = self.reduce(lambda run: float(run[name].max()))
                frame[f"mean({name})"] = self.reduce(lambda run: _mean(run, name))
        return frame

    def indices(self, of: Quantity) -> dict[str, Index]:
        """Sobol' indices of a quantity, in a sweep with ``sampling="saltelli"``.

        >>> import gyrator
        >>> model = gyrator.loads("model M parameter Real a = 1, b = 1; Real x = 3*a + 4*b; end M;")
        >>> vary = {"a": (0, 1), "b": (0, 1)}
        >>> found = gyrator.sweep(model, vary, samples=512, sampling="saltelli", intervals=1).indices("x")
        >>> round(found["a"].first, 1), round(found["b"].total, 1)  # 9/25 and 16/25
        (0.4, 0.6)
        """
        if self.sampling != "saltelli":
            raise CallError('Sobol\' indices need `sampling="saltelli"`')
        names = list(self.variants[0])
        found = _gyrator.sobol_indices(self.reduce(of).tolist(), len(names))
        if found is None:
            raise CallError("the quantity does not vary, or too few variants succeeded")
        return {name: Index(*row) for name, row in zip(names, found)}

    def fan(self, name: str, *, axes: Any = None) -> Any:
        """Draws how a variable spreads over time, with Matplotlib: the median and the middle 50 %, 90 % and all of the runs."""
        from gyrator._pictures import fan

        return fan(self, name, axes)

    def heatmap(self, of: Quantity, *, axes: Any = None) -> Any:
        """Draws a quantity over the two parameters of a grid, with Matplotlib."""
        from gyrator._pictures import heatmap

        return heatmap(self, of, axes)

    def tornado(self, of: Quantity, *, axes: Any = None) -> Any:
        """Draws what each parameter changes by itself, with Matplotlib: the range of the mean over all other parameters, at its
        values or over the thirds of its samples; with ``one-at-a-time`` beside the model as it is."""
        from gyrator._pictures import tornado

        return tornado(self, of, axes)

    def __repr__(self) -> str:
        failed = len(self.failures)
        return f"<Sweep of {len(self)} runs{f', {failed} failed' if failed else ''}>"


def _status(run: Result | GyratorError) -> str:
    if isinstance(run, GyratorError):
        return "failed"
    return "terminated" if run.terminated is not None else "ok"


def _message(run: Result | GyratorError) -> str:
    if isinstance(run, GyratorError):
        said = [diagnostic.message for diagnostic in run.diagnostics if diagnostic.severity == "error"]
        return (said[0] if said else str(run)).partition("\n")[0]
    return run.terminated or ""


def _mean(run: Result, name: str) -> float:
    """Over time, by the rule of trapezoids between rows."""
    time, values = run.time, run[name]
    span = time[-1] - time[0]
    return float(np.sum(np.diff(time) * (values[1:] + values[:-1])) / (2 * span)) if span > 0 else float(values[-1])


def variants(
    vary: Mapping[str, Values] | Iterable[Mapping[str, Value]],
    samples: int | None = None,
    sampling: str | None = None,
    seed: int = 0,
    model: Model | None = None,
) -> list[Variant]:
    """The product of all values, or samples of them; or the variants as they are listed.

    >>> variants({"R": (1, 3, 3), "C": [10, 20]})[:3]
    [{'R': 1.0, 'C': 10}, {'R': 1.0, 'C': 20}, {'R': 2.0, 'C': 10}]
    >>> variants({"R": 5, "on": [True, False]})
    [{'R': 5, 'on': True}, {'R': 5, 'on': False}]
    >>> sorted(variant["n"] for variant in variants({"n": [1, 2]}, samples=4))
    [1, 1, 2, 2]
    """
    if not isinstance(vary, Mapping):
        if samples is not None or sampling is not None:
            raise CallError("variants that are listed are not sampled")
        listed = [{name: plain(value) for name, value in variant.items()} for variant in itertools.islice(vary, _MOST + 1)]
        _counted(len(listed))
        if len({tuple(sorted(variant)) for variant in listed}) > 1:
            raise CallError("all variants have to set the same parameters")
        return listed
    if sampling is None and samples is None:
        axes = {name: _axis(name, given) for name, given in vary.items()}
        _counted(math.prod(_size(axis) for axis in axes.values()))
        levels = [[(name, value) for value in _levels(name, axis)] for name, axis in axes.items()]
        return [dict(chosen) for chosen in itertools.product(*levels)]
    if sampling == "one-at-a-time":
        return _one_at_a_time(vary, samples, model)
    if samples is None:
        raise CallError("say with `samples` how many samples to draw")
    samples = _count("`samples`", samples)
    if samples < 1:
        raise CallError("there has to be at least one sample")
    _counted(samples * (len(vary) + 2) if sampling == "saltelli" else samples)
    kinds = ("lhs", "random", "sobol", "saltelli")
    if (sampling or "lhs") not in kinds:
        raise CallError(f"`{sampling}` is no sampling; there are {', '.join(kinds)} and one-at-a-time")
    factors = [_factor(name, given, model) for name, given in vary.items()]
    try:
        rows = _gyrator.sample(sampling or "lhs", [factor for factor, _ in factors], samples, seed)
    except ValueError as error:
        raise CallError(str(error)) from None
    return [
        {name: listed[int(value)] if listed is not None else value for name, value, (_, listed) in zip(vary, row, factors)}
        for row in rows
    ]


def _one_at_a_time(vary: Mapping[str, Values], samples: int | None, model: Model | None) -> list[Variant]:
    if samples is not None:
        raise CallError('`sampling="one-at-a-time"` moves each parameter over its own values; leave out `samples`')
    known = model.parameters if model is not None else {}
    base: Variant = {name: known[name].value for name in vary}
    axes = {name: _axis(name, given, 2) for name, given in vary.items()}
    _counted(sum(_size(axis) for axis in axes.values()))
    moved = [{**base, name: value} for name, axis in axes.items() for value in _levels(name, axis)]
    return [base, *moved]


def _counted(size: int) -> None:
    if size > _MOST:
        raise CallError(f"these are more than {_MOST} variants")


def _count(what: str, given: Any) -> int:
    """A whole number, which a division makes a float."""
    given = plain(given)
    if isinstance(given, bool) or not _is_whole(given):
        raise CallError(f"{what} is a whole number, not {given!r}")
    return int(given)


def _is_whole(given: Any) -> bool:
    return isinstance(given, (int, np.integer)) or (isinstance(given, (float, np.floating)) and given.is_integer())


def _is_range(given: Any) -> bool:
    numbers = (int, float, np.integer, np.floating)
    return isinstance(given, tuple) and all(isinstance(part, numbers) and not isinstance(part, bool) for part in given)


def _range(name: str, given: Any) -> Any:
    """Two numbers, or two and a count, as a range; anything else as it is."""
    if not _is_range(given) or len(given) not in (2, 3):
        return given
    if len(given) == 3 and not _is_whole(given[2]):
        numbers = ", ".join(repr(part) for part in plain(given))
        raise CallError(f"`{name}`: the last of (first, last, count) is a whole number; these three values are [{numbers}]")
    return Range(float(given[0]), float(given[1]), int(given[2]) if len(given) == 3 else None)


def _axis(name: str, given: Any, least: int | None = None) -> Range | Normal | list[Any]:
    """A range or distribution with a count, or a list of values."""
    given = _range(name, given)
    if isinstance(given, (Range, Normal)):
        if given.count is None and least is None:
            raise CallError(f"how many values of `{name}`? Give a count, list the values as [first, last], or draw `samples`")
        count = _count(f"the count of `{name}`", least if given.count is None else given.count)
        if count < 1:
            raise CallError(f"`{name}` needs one value or more")
        _counted(count)
        return replace(given, count=count)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return [plain(given)]
    _counted(operator.length_hint(given))
    listed = [plain(value) for value in itertools.islice(given, _MOST + 1)]
    if not listed:
        raise CallError(f"`{name}` has no values")
    return listed


def _size(axis: Range | Normal | list[Any]) -> int:
    return len(axis) if isinstance(axis, list) else axis.count or 0


def _levels(name: str, axis: Range | Normal | list[Any]) -> list[Any]:
    if isinstance(axis, list):
        return axis
    try:
        levels: list[Any] = _gyrator.levels(_native_factor(axis), _size(axis))
    except ValueError as error:
        raise CallError(f"`{name}`: {error}") from None
    return levels


def _native_factor(given: Range | Normal) -> tuple[str, list[float]]:
    if isinstance(given, Normal):
        return ("normal", [float(given.mean), float(given.deviation)])
    return ("log" if given.log else "linear", [float(given.low), float(given.high)])


def _factor(name: str, given: Any, model: Model | None) -> tuple[tuple[str, list[float]], list[Any] | None]:
    """What samples are drawn from: a distribution, or the positions in a list."""
    given = _range(name, given)
    if isinstance(given, (Range, Normal)):
        kind, numbers = _native_factor(given)
        known = model.parameters.get(name) if model is not None and name in model.parameters else None
        if known is not None and known.type == "Integer":
            kind = {"linear": "whole"}.get(kind, kind)
            if kind != "whole":
                raise CallError(f"`{name}` is an Integer: give a range or a list of whole numbers")
        elif known is not None and known.type != "Real":
            raise CallError(f"`{name}` is no number, so it has no range: list its values")
        return (kind, numbers), None
    listed = _levels(name, _axis(name, given))
    return ("list", [float(place) for place in range(len(listed))]), listed


def sweep(
    model: Model,
    vary: Mapping[str, Values] | Iterable[Mapping[str, Value]],
    *,
    keep: Iterable[str] | None = None,
    samples: int | None = None,
    sampling: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    callback: Callable[[int, int], object] | None = None,
    progress: bool = False,
    journal: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Sweep:
    """Runs a model for each variant of its parameters, on threads that share one translated program.

    ``vary`` has for each parameter a list of values, ``(first, last, count)``, :func:`gyrator.log`, or one value; all
    combinations are run. It may also be a list of variants. With ``samples`` values are drawn from ranges, lists and
    :func:`gyrator.normal` instead: ``sampling`` is ``"lhs"`` (a Latin hypercube), ``"random"``, ``"sobol"`` or ``"saltelli"``
    (for :meth:`Sweep.indices`), and the same ``seed`` gives the same samples. ``sampling="one-at-a-time"`` runs the model as it
    is and then moves each parameter by itself.

    ``settings`` are those of :meth:`Model.simulate`; ``keep`` names the variables that are kept. Values of structural
    parameters, Strings and expressions are translated once each. A run that fails is the exception in place of its result.
    ``callback`` is called with the numbers of runs that are finished and of all; ``progress`` shows a bar. With ``journal``
    each run is written to that file when it is finished, and the same call goes on after whatever ended it.

    >>> import gyrator
    >>> model = gyrator.loads("model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;")
    >>> found = gyrator.sweep(model, {"k": (1, 3, 3)}, stop=1, keep=["x"])
    >>> found.last("x").round(4).tolist()
    [0.3679, 0.1353, 0.0498]
    """
    wanted = variants(vary, samples, sampling, seed, model)
    names = None if keep is None else [keep] if isinstance(keep, str) else list(keep)
    shown = Progress(len(wanted)) if progress else None
    raised = False

    def told(done: int, of: int) -> None:
        nonlocal raised
        if raised:
            # Runs on other threads are still ending.
            return
        try:
            if shown is not None:
                shown.at(done)
            if callback is not None:
                callback(done, of)
        except BaseException:
            raised = True
            raise

    hears = told if progress or callback is not None else None
    if journal is None:
        runs = run_variants(model, wanted, names, threads, hears, settings)
    else:
        runs = _with_journal(Journal(journal, model, wanted, names, settings), model, wanted, names, threads, hears, settings)
    if shown is not None:
        shown.end()
    return Sweep(wanted, runs, kind_of(vary, samples, sampling))


def kind_of(vary: object, samples: int | None, sampling: str | None) -> str:
    """How variants are chosen."""
    if sampling is not None or samples is not None:
        return sampling or "lhs"
    return "grid" if isinstance(vary, Mapping) else "list"


def _with_journal(
    journal: Journal,
    model: Model,
    wanted: list[Variant],
    keep: list[str] | None,
    threads: int | None,
    callback: Callable[[int, int], object] | None,
    settings: Mapping[str, Any],
) -> list[Result | GyratorError]:
    """Those that are not there; each is written when it is done."""
    with journal:
        missing = [place for place in range(len(wanted)) if place not in journal.runs]
        before = len(journal.runs)

        def told(done: int, _: int) -> None:
            if callback is not None:
                callback(before + done, len(wanted))

        def record(place: int, run: Result | GyratorError) -> None:
            journal.add(missing[place], run)

        run_variants(model, [wanted[place] for place in missing], keep, threads, told, settings, record)
        return [journal.runs[place] for place in range(len(wanted))]


def run_variants(
    model: Model,
    wanted: list[Variant],
    keep: list[str] | None,
    threads: int | None,
    callback: Callable[[int, int], object] | None,
    settings: Mapping[str, Any],
    record: Callable[[int, Result | GyratorError], None] | None = None,
) -> list[Result | GyratorError]:
    """The runs of variants, in their order. ``record`` hears of each as soon as it is done, on the thread that made it, and
    before ``callback`` does."""
    if not wanted:
        return []
    prepared = _prepared(settings)
    runs: list[Result | GyratorError | None] = [None] * len(wanted)
    # Those that share a translation and set the same numbers.
    groups: dict[tuple[Any, ...], list[tuple[int, dict[str, float]]]] = {}
    translated: dict[tuple[Any, ...], dict[str, str]] = {}
    for place, variant in enumerate(wanted):
        numbers, anew = model._split(variant)
        key = (tuple(anew.items()), tuple(numbers))
        groups.setdefault(key, []).append((place, numbers))
        translated[key] = anew
    finished = 0
    for key, group in groups.items():

        def told(count: int, _: int, before: int = finished) -> None:
            if callback is not None:
                callback(before + count, len(wanted))

        rows = [numbers for _, numbers in group]
        places = [place for place, _ in group]
        hears = None if record is None else lambda row, run, places=places: record(places[row], run)
        found = _run_group(model, translated[key], rows, keep, threads, told if callback else None, prepared, settings, hears)
        for (place, _), run in zip(group, found):
            runs[place] = run
        finished += len(group)
    return [run if run is not None else CallError("not run") for run in runs]


def _prepared(settings: Mapping[str, Any]) -> dict[str, Any]:
    from gyrator._model import _settings

    prepared = _settings(settings)
    unknown = sorted(set(settings) - set(prepared) - {"parameters"})
    if any(settings[name] is not None for name in unknown):
        raise CallError(f"`{unknown[0]}` is no setting of a run; parameters stand in `parameters`")
    return prepared


def _run_group(
    model: Model,
    anew: dict[str, str],
    rows: list[dict[str, float]],
    keep: list[str] | None,
    threads: int | None,
    callback: Callable[[int, int], object] | None,
    prepared: Mapping[str, Any],
    settings: Mapping[str, Any],
    record: Callable[[int, Result | GyratorError], None] | None,
) -> list[Result | GyratorError]:
    """The runs of variants that share a translation."""
    chosen = {name: Expression(text) for name, text in anew.items()}
    ready = dict(prepared)
    try:
        base = model._prepared(ready, settings.get("parameters"), chosen)
    except GyratorError as error:
        if isinstance(error, CallError):
            raise
        if record is not None:
            for place in range(len(rows)):
                record(place, error)
        return [error] * len(rows)
    wanted = None if keep is None else base._check(keep)
    names = list(rows[0])
    count = threads if threads is not None else os.cpu_count() or 1
    values = [list(row.values()) for row in rows]
    title, shown = base.name, base.outputs

    def outcome(row: dict[str, float], run: Any) -> Result | GyratorError:
        return _translated(base, row, ready, wanted, run) if isinstance(run, GyratorError) else Result(run, title, shown)

    if record is None:
        found: list[Any] = base._native.sweep(ready, names, values, wanted, count, callback)
        return [outcome(row, run) for row, run in zip(rows, found)]

    runs: list[Result | GyratorError] = [CallError("not run")] * len(rows)

    def work(place: int, go_on: Callable[[int, int], object]) -> None:
        run = base._native.sweep(ready, names, [values[place]], wanted, 1, go_on)[0]
        runs[place] = outcome(rows[place], run)
        record(place, runs[place])

    _on_threads(work, len(rows), count, callback)
    return runs


class _Stopped(Exception):
    """Ends a run that nobody waits for any more."""


def _on_threads(
    work: Callable[[int, Callable[[int, int], object]], None],
    count: int,
    threads: int,
    callback: Callable[[int, int], object] | None,
) -> None:
    """Works on all places. When something is raised, what has begun is stopped; what is finished has been recorded."""
    places: queue.SimpleQueue[int] = queue.SimpleQueue()
    for place in range(count):
        places.put(place)
    answers: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    stopped = threading.Event()

    def go_on(done: int, _: int) -> None:
        if stopped.is_set() and not done:
            raise _Stopped

    def worker() -> None:
        while not stopped.is_set():
            try:
                work(places.get_nowait(), go_on)
                answers.put(None)
            except (queue.Empty, _Stopped):
                return
            except BaseException as error:
                answers.put(error)
                return

    workers = []
    try:
        for _ in range(max(1, min(threads, count))):
            thread = threading.Thread(target=worker)
            thread.start()
            workers.append(thread)
        done = 0
        while done < count:
            try:
                # Not for ever, so that signals are heard on every system.
                error = answers.get(timeout=0.1)
            except queue.Empty:
                continue
            if error is not None:
                raise error
            done += 1
            if callback is not None:
                callback(done, count)
    finally:
        stopped.set()
        for thread in workers:
            thread.join()


def _translated(
    model: Model, row: dict[str, float], settings: dict[str, Any], keep: list[str] | None, error: GyratorError
) -> Result | GyratorError:
    """The run of a variant whose values decide more than the translation at hand allows, if that is why it failed."""
    if all(said.code != "structural-parameter" for said in error.diagnostics):
        return error
    try:
        changed = model._translated_with(model._expressions(row), {})
        return changed._result(changed._native.simulate(settings, keep, None))
    except GyratorError as reason:
        return reason


