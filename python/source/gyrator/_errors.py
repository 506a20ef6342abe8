"""Failures. Their text is that of the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gyrator._result import Result


@dataclass(frozen=True)
class Diagnostic:
    """One thing that there is to say about a model or a run."""

    severity: str
    code: str
    message: str
    component: str | None = None
    hint: str | None = None
    notes: list[str] = field(default_factory=list)
    path: str | None = None
    line: int | None = None
    column: int | None = None


class GyratorError(Exception):
    """Something could not be done. ``str`` of it is what the command line prints."""

    def __init__(self, text: str, diagnostics: Iterable[dict[str, Any]] = (), partial: Any = None) -> None:
        super().__init__(text)
        #: What is wrong, piece by piece.
        self.diagnostics: list[Diagnostic] = [Diagnostic(**said) for said in diagnostics]
        self._partial = partial

    @property
    def partial(self) -> Result | None:
        """What a run came to before it failed."""
        if self._partial is None:
            return None
        from gyrator._result import Result

        return Result(self._partial)

    def __reduce__(self) -> tuple[Any, ...]:
        said = [dict(vars(diagnostic)) for diagnostic in self.diagnostics]
        return (type(self), (str(self), said))


class CallError(GyratorError, ValueError):
    """The call asks for something that there is not."""


class ModelError(GyratorError):
    """The model is wrong."""


class SimulationError(GyratorError):
    """A run failed, or could not begin."""


class UnknownName(KeyError):
    """There is no variable of this name; the message has the nearest ones."""

    def __init__(self, name: str, known: Iterable[str], what: str = "variable") -> None:
        self.name = name
        self.nearest = nearest(name, known)
        text = f"there is no {what} `{name}`"
        if self.nearest:
            text += "; did you mean " + " or ".join(f"`{known}`" for known in self.nearest) + "?"
        self._text = text
        super().__init__(name)

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuilt_unknown, (self.name, self.nearest, self._text))


def _rebuilt_unknown(name: str, nearest: list[str], text: str) -> UnknownName:
    error = UnknownName(name, ())
    error.nearest, error._text = nearest, text
    return error


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The names that look most like this one."""
    names = list(known)
    lower: dict[str, str] = {}
    for candidate in names:
        lower.setdefault(candidate.lower(), candidate)
    found = [lower[match] for match in difflib.get_close_matches(name.lower(), list(lower), count, 0.6)]
    ending = [candidate for candidate in names if candidate.endswith("." + name)]
    return list(dict.fromkeys(ending[:count] + found))[:count]
