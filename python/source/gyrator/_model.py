"""Models: where they come from, their parameters, and what is done with them."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gyrator import _gyrator
from gyrator._errors import CallError, Diagnostic, ModelError, UnknownName
from gyrator._linear import LinearModel
from gyrator._result import Result
from gyrator._sensitivities import Sensitivities
from gyrator._simulation import Simulation
from gyrator._values import Expression, Value, Variable, expression, split, value_of

if TYPE_CHECKING:
    from gyrator._fit import Fit

#: An input over time: a number, or the rows of time and value.
Input = float | tuple[npt.ArrayLike, npt.ArrayLike]
Paths = Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Parameter(Variable):
    """A parameter with its value."""

    #: That of an enumeration is one of its literals. ``None`` where initial equations or an expression of texts determine it.
    value: float | int | bool | str | None = None

    @property
    def structural(self) -> bool:
        """Whether another value needs a translation of its own: it decides sizes or equations, or depends on what does."""
        return not self.tunable


class Parameters(Mapping[str, Parameter]):
    """The parameters of a model by name."""

    def __init__(self, known: dict[str, Parameter]) -> None:
        self._known = known

    def __getitem__(self, name: str) -> Parameter:
        if name not in self._known:
            raise UnknownName(name, self._known, "parameter")
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(p.name)}</td><td>{p.value}</td><td>{escape(p.unit)}</td><td>{p.type}</td>"
            f"<td>{'structural' if p.structural else ''}</td><td>{escape(p.description)}</td></tr>"
            for p in self._known.values()
        )
        head = "<tr><th>parameter</th><th>value</th><th>unit</th><th>type</th><th></th><th></th></tr>"
        return f"<table>{head}{rows}</table>"

    def __repr__(self) -> str:
        shown = ", ".join(f"{p.name} = {p.value}{' ' + p.unit if p.unit else ''}" for p in self._known.values())
        return f"<Parameters: {shown}>"


@dataclass(frozen=True)
class _Origin:
    """Everything that a translation needs. It can be sent elsewhere: no code is part of it."""

    target: str
    libraries: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    set: tuple[tuple[str, str], ...] = ()
    inputs: tuple[str, ...] = ()

    def sources(self) -> _gyrator.Sources:
        libraries, files, texts = list(self.libraries), list(self.files), list(self.texts)
        return _gyrator.Sources(
            self.target, libraries, files, texts, list(self.read), list(self.write), list(self.external)
        )

    def translate(self) -> _gyrator.Model:
        made = self.sources().translate(list(self.set), list(self.inputs))
        known = {row[0] for row in made.variables} if self.inputs else set()
        for name in self.inputs:
            if not any(name == other or other.startswith((f"{name}[", f"{name}.")) for other in known):
                raise UnknownName(name, known)
        return made

    def with_set(self, values: Mapping[str, str]) -> _Origin:
        known = {**dict(self.set), **values}
        parts = {**vars(self), "set": tuple(known.items())}
        return _Origin(**parts)


def _paths(paths: Paths | str | os.PathLike[str]) -> tuple[str, ...]:
    single = (paths,) if isinstance(paths, (str, os.PathLike)) else tuple(paths)
    return tuple(os.path.abspath(os.fspath(path)) for path in single)


def _libraries(allowed: Paths | str | os.PathLike[str]) -> tuple[str, ...]:
    """Shared libraries; the word ``build`` stands for the C code of Modelica libraries."""
    single = (allowed,) if isinstance(allowed, (str, os.PathLike)) else tuple(allowed)
    return tuple("build" if part == "build" else _paths(part)[0] for part in single)


def load(
    target: str | os.PathLike[str],
    *,
    libraries: Paths = (),
    files: Paths = (),
    parameters: Mapping[str, Value] | None = None,
    inputs: Iterable[str] = (),
    allow_read: Paths = (),
    allow_write: Paths = (),
    allow_external: Paths = (),
) -> Model:
    """Translates a model: a file, or a class given by its name.

    ``libraries`` are folders with libraries, such as the one that holds ``Modelica 4.1.0``; ``files`` are further files with
    classes. ``parameters`` have other values from the beginning. ``inputs`` are given from outside although the model has
    values for them. Models read and write no files and call no shared libraries but those that are allowed;
    ``allow_external="build"`` compiles the C code of Modelica libraries.
    """
    name = os.fspath(target)
    if os.path.exists(name):
        name = os.path.abspath(name)
    origin = _Origin(
        name,
        _paths(libraries),
        _paths(files),
        (),
        _paths(allow_read),
        _paths(allow_write),
        _libraries(allow_external),
        inputs=tuple(inputs),
    )
    return Model._with(origin, parameters)


def loads(
    text: str,
    *,
    name: str = "model.mo",
    libraries: Paths = (),
    parameters: Mapping[str, Value] | None = None,
    inputs: Iterable[str] = (),
) -> Model:
    """Translates a model from its text."""
    return Model._with(_Origin(name, _paths(libraries), texts=((name, text),), inputs=tuple(inputs)), parameters)


def check(target: str | os.PathLike[str], *, libraries: Paths = (), files: Paths = ()) -> str:
    """What is wrong with a class, as text; empty where nothing is."""
    text, _ = _Origin(os.fspath(target), _paths(libraries), _paths(files)).sources().check()
    return text


@functools.lru_cache(maxsize=8)
def _translated(origin: _Origin) -> _gyrator.Model:
    """One translation of each model that a process is sent."""
    return origin.translate()


def _rebuilt(origin: _Origin, values: tuple[tuple[str, float], ...]) -> Model:
    native = _translated(origin)
    return Model(origin, native.with_parameters(list(values)) if values else native, dict(values))


class Model:
    """A translated model. It is shared between threads, and pickled as its texts.

    >>> import gyrator, pickle
    >>> model = gyrator.loads('''
    ... model Tank
    ...   parameter Real A(unit = "m2") = 2 "Area";
    ...   Real h(unit = "m", start = 1, fixed = true);
    ... equation
    ...   A*der(h) = -0.1*sqrt(max(h, 0));
    ... end Tank;
    ... ''')
    >>> model.parameters["A"].value, model.parameters["A"].unit
    (2.0, 'm2')
    >>> model.parameters["a"]
    Traceback (most recent call last):
    ...
    gyrator._errors.UnknownName: there is no parameter `a`; did you mean `A`?
    >>> copy = pickle.loads(pickle.dumps(model))
    >>> copy.simulate(stop=2).last("h") == model.simulate(stop=2).last("h")
    True
    """

    def __init__(self, origin: _Origin, native: _gyrator.Model, values: dict[str, float]) -> None:
        self._origin = origin
        self._native = native
        self._values = values
        self._variables: dict[str, Variable] | None = None
        self._known_texts: dict[str, Parameter] | None = None

    @classmethod
    def _with(cls, origin: _Origin, parameters: Mapping[str, Value] | None) -> Model:
        """A translation. A text may be one of a String, which is known when the model is translated."""
        given = dict(parameters or {})
        if any(isinstance(value, str) and not isinstance(value, Expression) for value in given.values()):
            try:
                return cls(origin, origin.translate(), {}).with_parameters(given)
            except ModelError:
                # It may be no model without them.
                pass
        origin = origin.with_set({name: expression(None, value) for name, value in given.items()})
        return cls(origin, origin.translate(), {})

    def _by_name(self) -> dict[str, Variable]:
        if self._variables is None:
            self._variables = {row[0]: Variable(*row[:6], tuple(row[6]), row[7]) for row in self._native.variables}
        return self._variables

    def _texts(self) -> dict[str, Parameter]:
        """The parameters that are texts."""
        if self._known_texts is None:
            rows = self._native.texts
            self._known_texts = {
                name: Parameter(name, "", description, "String", "parameter", False, (), "", value)
                for name, value, description in rows
            }
        return self._known_texts

    @property
    def name(self) -> str:
        """The name of the class."""
        return self._native.name

    @property
    def variables(self) -> list[Variable]:
        """All variables."""
        return list(self._by_name().values())

    @property
    def inputs(self) -> list[str]:
        """The names of inputs that are given from outside."""
        return [known.name for known in self._by_name().values() if known.role == "input"]

    @property
    def outputs(self) -> list[str]:
        """The names of outputs at the top of the model."""
        return [known.name for known in self._by_name().values() if known.role == "output"]

    @property
    def parameters(self) -> Parameters:
        """The parameters with their values, units and types, and whether they are structural."""
        values = self._native.parameter_values()
        found = {}
        for name, known in self._by_name().items():
            if known.role == "parameter":
                found[name] = Parameter(**vars(known), value=value_of(known, values.get(name)))
        return Parameters({**found, **self._texts()})

    @property
    def experiment(self) -> dict[str, float | str]:
        """The run that the model asks for."""
        return dict(zip(("start", "stop", "interval", "tolerance", "solver"), self._native.experiment))

    @property
    def warnings(self) -> list[Diagnostic]:
        """What the translation had to say."""
        return [Diagnostic(**said) for said in self._native.warnings]

    def with_parameters(self, values: Mapping[str, Value] | None = None, /, **named: Value) -> Model:
        """The same model with other values of parameters. Most need no translation; structural ones, Strings and texts with
        expressions translate the model anew.

        >>> import gyrator
        >>> model = gyrator.loads('''
        ... model M
        ...   type Kind = enumeration(linear, square);
        ...   parameter Kind kind = Kind.linear;
        ...   parameter Boolean on = true;
        ...   parameter Real p[2] = {1, 2};
        ...   parameter String label = "a";
        ...   Real y = if not on then 1 elseif kind == Kind.square then p[2]^2 else p[2];
        ... end M;
        ... ''')
        >>> model.simulate(kind="square", p=[0, 3], label="b").last("y"), model.simulate(on=False).last("y")
        (9.0, 1.0)
        >>> model.parameters["kind"].value, model.parameters["kind"].literals
        ('linear', ('linear', 'square'))
        """
        together: dict[str, Value] = {**(values or {}), **named}
        if not together:
            return self
        numbers, anew = self._split(together)
        if not anew:
            try:
                return Model(self._origin, self._native.with_parameters(list(numbers.items())), {**self._values, **numbers})
            except ModelError:
                # A value may decide more than the translation at hand allows.
                anew, numbers = self._expressions(numbers), {}
        return self._translated_with(anew, numbers)

    def _split(self, values: Mapping[str, Value]) -> tuple[dict[str, float], dict[str, str]]:
        """What the program takes as numbers, and what needs a translation, as expressions."""
        return split(values, self._by_name(), self._texts())

    def _expressions(self, numbers: Mapping[str, float]) -> dict[str, str]:
        """Numbers of the program as expressions."""
        known = self._by_name()
        return {name: expression(known[name], value_of(known[name], number)) for name, number in numbers.items()}

    def _translated_with(self, anew: Mapping[str, str], numbers: Mapping[str, float]) -> Model:
        left = {name: number for name, number in {**self._values, **numbers}.items() if name not in anew}
        # What the texts of the model set before, and a value of one element beside the whole array.
        covered = [name for name in left if any(name.startswith(part + "[") for part in anew)]
        return _rebuilt(self._kept_origin().with_set(anew), tuple((n, v) for n, v in left.items() if n not in covered))

    def _prepared(self, settings: dict[str, Any], parameters: Mapping[str, Value] | None, named: Mapping[str, Value]) -> Model:
        settings["inputs"] = _rows(settings.get("inputs"))
        start_from = settings.get("start_from")
        if start_from is not None:
            result, time = start_from if isinstance(start_from, tuple) else (start_from, None)
            settings["start_from"] = (result._run, time)
        times = settings.get("times")
        if times is not None:
            settings["times"] = np.atleast_1d(np.ascontiguousarray(times, dtype=float))
            begin = float(settings.get("start", self.experiment["start"]))
            if np.any(settings["times"] < begin):
                raise CallError(f"the times begin at {settings['times'].min():g}, before the run, which begins at {begin:g}")
            if len(settings["times"]) and settings["times"][-1] > settings.setdefault("stop", float(settings["times"][-1])):
                raise CallError(f"the last of the times lies behind the end of the run, {settings['stop']:g}")
        return self.with_parameters(_merged(parameters, named))

    def simulate(
        self,
        stop: float | None = None,
        *,
        start: float | None = None,
        tolerance: float | None = None,
        solver: str | None = None,
        intervals: int | None = None,
        interval: float | None = None,
        times: npt.ArrayLike | None = None,
        step: float | None = None,
        max_step: float | None = None,
        inputs: Mapping[str, Input] | None = None,
        start_from: Result | tuple[Result, float] | None = None,
        steady_state: bool = False,
        keep: Iterable[str] | None = None,
        callback: Callable[[float], object] | None = None,
        parameters: Mapping[str, Value] | None = None,
        **named: Value,
    ) -> Result:
        """A run from start to stop. What is not given is what the model asks for.

        ``parameters``, and further names, are parameters with other values. Rows are written in equal ``intervals``, of the
        length ``interval``, or at ``times``, to the last of which the run then goes, and on both sides of events. ``inputs``
        are numbers or rows of time and value, linear between them; two rows of equal time are a jump. ``start_from`` begins
        where another run was, at its end or at a time of it. ``keep`` names the variables that are wanted. ``callback`` is
        asked before each step with the time; where it returns ``False``, the run ends there.
        """
        settings = _settings(locals())
        model = self._prepared(settings, parameters, named)
        wanted = None if keep is None else model._check(keep)
        return model._result(model._native.simulate(settings, wanted, callback))

    def _check(self, names: Iterable[str]) -> list[str]:
        wanted = [names] if isinstance(names, str) else list(names)
        for name in wanted:
            if name not in self._by_name():
                raise UnknownName(name, self._by_name())
        return wanted

    def _result(self, run: _gyrator.Run) -> Result:
        return Result(run, self.name, self.outputs)

    def simulation(
        self,
        *,
        start: float | None = None,
        stop: float | None = None,
        tolerance: float | None = None,
        solver: str | None = None,
        step: float | None = None,
        max_step: float | None = None,
        inputs: Mapping[str, Input] | None = None,
        start_from: Result | tuple[Result, float] | None = None,
        steady_state: bool = False,
        parameters: Mapping[str, Value] | None = None,
        **named: Value,
    ) -> Simulation:
        """A run to be stepped, initialised, for closed loops."""
        settings = _settings(locals())
        model = self._prepared(settings, parameters, named)
        return Simulation(model, model._native.start(settings))

    def steady_state(self, *, parameters: Mapping[str, Value] | None = None, **named: Value) -> dict[str, float]:
        """The values of all variables at the stationary state that a run from the initial state comes to while time stands still.
        Where such a run does not come to rest there, or may not, a :class:`UserWarning` says so.

        >>> import gyrator
        >>> model = gyrator.loads("model M Real x(start = 0, fixed = true); equation der(x) = 8 - x^3; end M;")
        >>> round(model.steady_state()["x"], 9)
        2.0
        """
        simulation = self.simulation(steady_state=True, parameters=_merged(parameters, named))
        for said in simulation.warnings:
            warnings.warn(said.message, stacklevel=2)
        names = list(simulation.model._by_name())
        return dict(zip(names, simulation.get(names).tolist()))

    def linearize(
        self,
        *,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        at: float | None = None,
        steady_state: bool = False,
        tolerance: float | None = None,
        solver: str | None = None,
        parameters: Mapping[str, Value] | None = None,
        **named: Value,
    ) -> LinearModel:
        """The linear model at a point of a run: at its start, at the time ``at``, or at the stationary state. ``inputs`` may be
        variables that equations determine; the model is opened there."""
        model = self.with_parameters(_merged(parameters, named))
        begin = float(self.experiment["start"])
        if at is not None and not begin <= at < np.inf:
            raise CallError(f"the run has no point at time {at:g}; it begins at {begin:g}")
        origin = model._kept_origin().with_set(model._expressions(model._values))
        found = origin.sources().linearize(
            list(origin.set), _names(inputs), _names(outputs), at, steady_state, tolerance, solver
        )
        return LinearModel._of(found)

    def sensitivities(
        self,
        parameters: Iterable[str],
        of: Iterable[str] | None = None,
        *,
        stop: float | None = None,
        start: float | None = None,
        tolerance: float | None = None,
        solver: str | None = None,
        intervals: int | None = None,
        interval: float | None = None,
        times: npt.ArrayLike | None = None,
        step: float | None = None,
        max_step: float | None = None,
        inputs: Mapping[str, Input] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> Sensitivities:
        """A run with the derivatives of variables with respect to parameters, exact also through events.

        ``of`` are the Real variables that are differentiated, all that change without it. ``values`` are values of parameters.

        >>> import gyrator
        >>> model = gyrator.loads('''
        ... model Ball
        ...   parameter Real e = 0.8, g = 9.81;
        ...   Real h(start = 1, fixed = true), v(start = 0, fixed = true);
        ... equation
        ...   der(h) = v;
        ...   der(v) = -g;
        ...   when h <= 0 then
        ...     reinit(v, -e*pre(v));
        ...   end when;
        ... end Ball;
        ... ''')
        >>> found = model.sensitivities(["e"], ["v"], stop=0.6, tolerance=1e-8)
        >>> print(f"{found['v', 'e'][-1]:.4f}")  # sqrt(2 g) behind the impact
        4.4294
        """
        settings = _settings({name: value for name, value in locals().items() if name not in ("parameters", "of", "values")})
        model = self._prepared(settings, values, {})
        by = model._check(parameters)
        if of is None:
            real = [v for v in model.variables if v.type == "Real" and v.role in ("local", "output")]
            wanted = [known.name for known in real]
        else:
            wanted = model._check(of)
        run, array, differenced = model._native.sensitivities(settings, wanted, by)
        return Sensitivities(model._result(run), array, wanted, by, differenced)

    def fit(self, data: Any, parameters: Iterable[str] | Mapping[str, float], **options: Any) -> Fit:
        """Finds the values of parameters with which the model follows data best; see :func:`gyrator._fit.fit`."""
        from gyrator._fit import fit

        return fit(self, data, parameters, **options)

    def _kept_origin(self) -> _Origin:
        """Where the model comes from, with the texts that were read then: the files may have changed since."""
        texts = dict(self._origin.texts)
        # Those of the library that comes with the package are there already.
        for path, text in self._native.sources():
            if os.path.isabs(path) or os.path.exists(path):
                texts.setdefault(path, text)
        parts = {**vars(self._origin), "texts": tuple(texts.items())}
        return _Origin(**parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuilt, (self._kept_origin(), tuple(self._values.items())))

    def __repr__(self) -> str:
        return f"<Model {self.name}: {len(self._by_name())} variables>"


def _names(names: Iterable[str] | None) -> list[str] | None:
    if names is None:
        return None
    return [names] if isinstance(names, str) else list(names)


_SETTINGS = (
    "start", "stop", "tolerance", "solver", "intervals", "interval", "times", "step", "max_step", "inputs", "start_from",
    "steady_state",
)  # fmt: skip


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    settings = {name: given[name] for name in _SETTINGS if given.get(name) is not None}
    if "intervals" in settings and "interval" in settings:
        raise CallError("`intervals` is how many there are, and `interval` how long each is: give one of them")
    return settings


def _merged(parameters: Mapping[str, Value] | None, named: Mapping[str, Value]) -> dict[str, Value]:
    """Parameters that were given in two ways."""
    both = sorted(set(parameters or ()) & set(named))
    if both:
        raise CallError(f"the parameter `{both[0]}` is given twice, in `parameters` and by its name")
    return {**(parameters or {}), **named}


def _rows(inputs: Mapping[str, Input] | None) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Inputs as rows of time and value."""
    found = {}
    for name, given in (inputs or {}).items():
        pair = given if isinstance(given, tuple) else ([0.0], [float(given)])
        time, values = (np.atleast_1d(np.ascontiguousarray(part, dtype=float)) for part in pair)
        if time.shape != values.shape or time.ndim != 1:
            raise CallError(f"the input `{name}` needs as many values as times")
        found[name] = (time, values)
    return found
