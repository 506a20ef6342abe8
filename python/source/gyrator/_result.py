"""What came of a run."""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gyrator import _gyrator
from gyrator._errors import CallError, Diagnostic, UnknownName

Array = npt.NDArray[np.float64]

#: How many curves a picture has that nobody chose.
_CURVES = 4
#: How many variables a range of subscripts stands for at most.
_MOST = 100_000


class Picture:
    """A drawing that notebooks show."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str) -> None:
        """Writes the drawing to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


class Result(Mapping[str, Array]):
    """Trajectories of a run. ``result["R1.v"]`` is an array that looks into the run, without a copy and read-only.

    An event has two rows of equal time: the values before it and behind it.
    """

    def __init__(self, run: _gyrator.Run, title: str = "", shown: list[str] | None = None) -> None:
        self._run = run
        self._title = title
        self._shown = shown
        self._places: dict[str, int] | None = None

    def _known(self) -> dict[str, int]:
        if self._places is None:
            self._places = {name: place for place, name in enumerate(self._run.names)}
        return self._places

    def __getitem__(self, name: str) -> Array:
        if name == "time" and "time" not in self._known():
            return self.time
        place = self._known().get(name)
        if place is None:
            raise UnknownName(name, self._known())
        return self._run.column(place)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __contains__(self, name: object) -> bool:
        return name in self._known()

    @property
    def time(self) -> Array:
        """The time of each row."""
        return self._run.time

    @property
    def names(self) -> list[str]:
        """The names of all variables."""
        return list(self._known())

    @property
    def units(self) -> dict[str, str]:
        """The unit of each variable as declared; empty where it has none."""
        return {name: column[0] for name, column in zip(self._run.names, self._run.columns)}

    @property
    def descriptions(self) -> dict[str, str]:
        """What each variable means, as declared."""
        return {name: column[2] for name, column in zip(self._run.names, self._run.columns)}

    @property
    def warnings(self) -> list[Diagnostic]:
        """What the run had to say."""
        return [Diagnostic(**said) for said in self._run.warnings]

    @property
    def terminated(self) -> str | None:
        """The message of a model that ended the run itself."""
        return self._run.terminated

    @property
    def interrupted(self) -> float | None:
        """When a callback ended the run."""
        return self._run.interrupted

    @property
    def statistics(self) -> dict[str, int]:
        """What the run took: steps, evaluations, events."""
        return self._run.statistics

    def at(self, name: str, time: float) -> float:
        """The value at a time, linear between rows; at an event the one behind it."""
        times, values = self.time, self[name]
        if not times[0] <= time <= times[-1]:
            raise ValueError(f"the run goes from {times[0]:g} to {times[-1]:g}, not to {time:g}")
        right = int(np.searchsorted(times, time, side="right"))
        if right == len(times) or times[right - 1] == time:
            return float(values[right - 1])
        part = (time - times[right - 1]) / (times[right] - times[right - 1])
        return float(values[right - 1] + part * (values[right] - values[right - 1]))

    def last(self, name: str) -> float:
        """The value at the end."""
        return float(self[name][-1])

    def _attributes(self, name: str) -> dict[str, str]:
        unit, display, description, _ = self._run.columns[self._known()[name]]
        found = {"units": unit, "display_unit": display, "long_name": description}
        return {key: value for key, value in found.items() if value}

    def _typed(self, place: int) -> npt.NDArray[Any]:
        """The column in the type of the variable."""
        values, kind = self._run.column(place), self._run.columns[place][3]
        if kind == "Boolean":
            return values.astype(np.bool_)
        if kind in ("Integer", "Enumeration"):
            return values.astype(np.int64)
        return values

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with the time as index; ``frame[name].attrs`` would not survive, so ``frame.attrs["units"]`` has them."""
        import pandas

        columns = {name: self._typed(place) for name, place in self._known().items()}
        frame = pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))
        frame.attrs["units"] = self.units
        return frame

    def to_polars(self) -> Any:
        """A ``polars.DataFrame`` with a column ``time``."""
        import polars

        columns: dict[str, Any] = {"time": self.time}
        columns.update({name: self._typed(place) for name, place in self._known().items()})
        return polars.DataFrame(columns)

    def to_xarray(self) -> Any:
        """An ``xarray.Dataset`` over the time, with units and descriptions as attributes."""
        import xarray

        variables = {
            name: xarray.Variable(("time",), self._typed(place), self._attributes(name))
            for name, place in self._known().items()
        }
        time = xarray.Variable(("time",), self.time, {"units": "s"})
        return xarray.Dataset(variables, coords={"time": time}, attrs={"title": self._title})

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table`` with units in the metadata of its fields."""
        import pyarrow

        fields = [pyarrow.field("time", pyarrow.float64(), metadata={"unit": "s"})]
        arrays = [pyarrow.array(self.time)]
        for name, place in self._known().items():
            arrays.append(pyarrow.array(self._typed(place)))
            attributes = {key.replace("units", "unit"): text for key, text in self._attributes(name).items()}
            fields.append(pyarrow.field(name, arrays[-1].type, metadata=attributes))
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow C stream interface, through pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _chosen(self, names: tuple[str, ...]) -> list[str]:
        wanted = [name for text in names for name in _expanded(text, self._known())]
        for name in wanted:
            self[name]
        return wanted if names else self._default_names()

    def _default_names(self) -> list[str]:
        if self._shown:
            return [name for name in self._shown if name in self][:_CURVES]
        moving = (name for name in self if np.ptp(self[name]) > 0 and not name.startswith("der("))
        return sorted(moving, key=lambda name: name.count("."))[:_CURVES]

    def svg(self, *names: str) -> str:
        """A drawing of some variables. Subscripts may be ranges: ``"T[1:5]"``, ``"x[:,2]"``."""
        return self._run.draw(self._title, self._chosen(names), "svg")

    def html(self, *names: str) -> str:
        """A page with an interactive drawing; it needs nothing else."""
        return self._run.draw(self._title, self._chosen(names), "html")

    def _repr_html_(self) -> str:
        names = self._default_names()
        if not names:
            return f"<p>{html.escape(repr(self))}</p>"
        page = html.escape(self.html(*names), quote=True)
        height = 120 + 220 * len({self.units[name] for name in names})
        return f'<iframe srcdoc="{page}" style="width:100%;height:{height}px;border:0"></iframe>'

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws variables over the time: with Matplotlib where it is installed (the axes come back), else as a picture."""
        chosen = self._chosen(names)
        try:
            import matplotlib.pyplot
        except ImportError:
            if axes is not None:
                raise
            return Picture(self.svg(*chosen))
        if axes is None:
            _, axes = matplotlib.pyplot.subplots()
        units = self.units
        for name in chosen:
            unit = units.get(name, "")
            axes.plot(self.time, self[name], label=f"{name} [{unit}]" if unit else name)
        axes.set_xlabel("time [s]")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        time = self.time
        span = f"{time[0]:g} to {time[-1]:g} s" if len(time) else "nothing"
        return f"<Result of {self._title or 'a run'}: {len(self)} variables, {len(time)} rows, {span}>"

    def __reduce__(self) -> tuple[Any, ...]:
        columns = [
            (name, *described, np.array(self._run.column(place)))
            for (place, name), described in zip(enumerate(self._run.names), self._run.columns)
        ]
        return (_rebuilt, (np.array(self.time), columns, self._title, self._shown))


def _rebuilt(time: Array, columns: list[Any], title: str, shown: list[str] | None) -> Result:
    return Result(_gyrator.Run.of(time, columns), title, shown)


def _expanded(text: str, known: Mapping[str, int]) -> list[str]:
    """The names that a name with ranges of subscripts stands for; those of several brackets go together."""
    pieces = re.split(r"\[([^\[\]]*:[^\[\]]*)\]", text)
    if text in known or len(pieces) == 1:
        return [text]
    chosen = []
    for place in range(1, len(pieces), 2):
        base = pieces[place - 1] if place == 1 else ""
        ranges = [_range(text, base, *given, known) for given in enumerate(pieces[place].split(","))]
        if math.prod(len(found) for found in ranges) > _MOST:
            raise CallError(f"`{text}` stands for more than {_MOST} variables")
        chosen.append([",".join(map(str, subscripts)) for subscripts in itertools.product(*ranges)])
    if len({len(subscripts) for subscripts in chosen}) > 1:
        raise CallError(f"`{text}`: the ranges have different lengths")
    if not chosen[0]:
        raise CallError(f"`{text}` stands for no variable")
    ends = pieces[2::2]
    return [
        pieces[0] + "".join(f"[{subscript}]{end}" for subscript, end in zip(subscripts, ends)) for subscripts in zip(*chosen)
    ]


def _range(text: str, base: str, dimension: int, given: str, known: Mapping[str, int]) -> range:
    """The subscripts in one dimension: one, ``low:high``, ``low:step:high`` or ``:`` for all that there are."""
    bounds = [bound.strip() for bound in given.split(":")]
    if bounds == ["", ""]:
        lists = [name[len(base) + 1 :].partition("]")[0].split(",") for name in known if name.startswith(base + "[")]
        return range(1, 1 + max((int(found[dimension]) for found in lists if len(found) > dimension), default=0))
    if not all(bound.isdecimal() for bound in bounds) or len(bounds) > 3 or (len(bounds) == 3 and int(bounds[1]) == 0):
        raise CallError(f"`{text}`: write a range of subscripts as `[1:5]`, `[1:2:9]` or `[:]`")
    return range(int(bounds[0]), int(bounds[-1]) + 1, int(bounds[1]) if len(bounds) == 3 else 1)
