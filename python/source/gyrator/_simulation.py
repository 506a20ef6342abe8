"""Runs that a program steps, for closed loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from gyrator import _gyrator
from gyrator._errors import CallError, Diagnostic, UnknownName
from gyrator._values import number

if TYPE_CHECKING:
    from gyrator._model import Model


class Simulation:
    """A run at an instant. It may move between threads; one call at a time works on it.

    >>> import gyrator
    >>> model = gyrator.loads("model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;")
    >>> loop = model.simulation()
    >>> for _ in range(50):
    ...     loop.set(u=1 - loop["x"])
    ...     reached = loop.step(0.1)
    >>> round(loop["x"], 2)
    0.99
    """

    def __init__(self, model: Model, native: _gyrator.Simulation) -> None:
        self.model = model
        self._native = native

    @property
    def time(self) -> float:
        """How far it has come."""
        return self._native.time

    @property
    def warnings(self) -> list[Diagnostic]:
        """What the run had to say so far."""
        return [Diagnostic(**said) for said in self._native.warnings]

    @property
    def mode(self) -> str | None:
        """The structural conditions that hold, in a model whose structure changes."""
        return self._native.mode()

    def step_to(self, time: float, *, events: bool = False) -> str:
        """Goes on to a time; with ``events`` no further than to the next event. Says what was reached: ``"time"``,
        ``"event"``, or ``"terminated"`` where the model ended itself."""
        reached, self.message = self._native.step_to(time, events)
        return reached

    #: What a model that ended itself said.
    message: str | None = None

    def step(self, length: float, *, events: bool = False) -> str:
        """Goes on by a length of time."""
        return self.step_to(self.time + length, events=events)

    def set(self, values: Mapping[str, float | str] | None = None, /, **named: float | str) -> None:
        """Sets inputs and parameters from now on. Another value makes an event at the beginning of the next step."""
        together = {**(values or {}), **named}
        known = self.model._by_name()
        for name in together:
            if name not in known:
                raise UnknownName(name, (n for n, v in known.items() if v.role in ("input", "parameter")), "input")
        numbers = []
        for name, value in together.items():
            found = number(known[name], value)
            if found is None:
                raise CallError(f"`{name}` needs a value, and {value!r} is an expression")
            numbers.append((name, found))
        self._native.set(numbers)

    @overload
    def get(self, name: str) -> float: ...
    @overload
    def get(self, name: list[str] | tuple[str, ...]) -> npt.NDArray[np.float64]: ...
    def get(self, name: str | list[str] | tuple[str, ...]) -> float | npt.NDArray[np.float64]:
        """The value of a variable, or of several, at the time that was reached."""
        names = [name] if isinstance(name, str) else list(name)
        known = self.model._by_name()
        for wanted in names:
            if wanted not in known:
                raise UnknownName(wanted, known)
        values = self._native.get(names)
        return values[0] if isinstance(name, str) else np.array(values)

    def __getitem__(self, name: str) -> float:
        return self.get(name)

    def __copy__(self) -> Simulation:
        """Another run, which goes on from here by itself."""
        copied = Simulation(self.model, self._native.copy())
        copied.message = self.message
        return copied

    def __deepcopy__(self, memo: object) -> Simulation:
        return self.__copy__()

    def snapshot(self) -> _gyrator.Snapshot:
        """A state to return to."""
        return self._native.snapshot()

    def restore(self, snapshot: _gyrator.Snapshot) -> None:
        """Returns to a snapshot; from there the run goes on as it did, bit for bit."""
        self._native.restore(snapshot)

    def jacobian(self, of: Iterable[str], by: Iterable[str]) -> npt.NDArray[np.float64]:
        """The exact derivatives of variables with respect to states, inputs or parameters, at the time that was reached."""
        of, by = list(of), list(by)
        known = self.model._by_name()
        for name in (*of, *by):
            if name not in known:
                raise UnknownName(name, known)
        return np.array(self._native.jacobian(of, by)).reshape(len(of), len(by))

    def loop(
        self, stop: float, interval: float, control: Callable[[Simulation], object], keep: Iterable[str]
    ) -> dict[str, npt.NDArray[np.float64]]:
        """Calls a controller in equal intervals until a time, and keeps variables before each call."""
        if not 0 < interval < np.inf:
            raise CallError(f"the interval of a loop is a finite number greater than zero, not {interval:g}")
        if not np.isfinite(stop):
            raise CallError(f"a loop needs an end, and {stop:g} is none")
        names = list(keep)
        times, rows = [], []
        first = self.time
        count = 0
        while True:
            times.append(self.time)
            rows.append(self.get(names))
            count += 1
            until = first + count * interval
            if until > stop + 1e-9 * interval or control(self) is False or self.step_to(until) == "terminated":
                break
        table = np.array(rows).reshape(len(rows), len(names))
        return {"time": np.array(times), **{name: table[:, place] for place, name in enumerate(names)}}

    def __repr__(self) -> str:
        return f"<Simulation of {self.model.name} at {self.time:g} s>"
