"""Values of parameters: what Python has as numbers, truth values, texts and arrays, as numbers of a program or as Modelica
expressions."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gyrator._errors import CallError, UnknownName, nearest

#: A value of a parameter: a number, a truth value, a text, or an array of them. The text of a String is the text itself, that
#: of an enumeration one of its literals; any other text is a Modelica expression.
Value = float | int | bool | str | enum.Enum | npt.ArrayLike


class Expression(str):
    """A Modelica expression, also where a text would be the value itself.

    >>> import gyrator
    >>> model = gyrator.loads('model M parameter String s = "a"; Real x = if s == "ab" then 1 else 0; end M;')
    >>> model.simulate(s="ab").last("x"), model.simulate(s=gyrator.Expression('"a" + "b"')).last("x")
    (1.0, 1.0)
    """


@dataclass(frozen=True)
class Variable:
    """A variable of a model."""

    name: str
    unit: str
    description: str
    #: ``Real``, ``Integer``, ``Boolean``, ``enumeration`` or ``String``.
    type: str
    #: ``constant``, ``parameter``, ``input``, ``output`` or ``local``.
    role: str
    #: Whether it is a parameter that another value needs no translation of.
    tunable: bool
    #: The literals of an enumeration, in their order.
    literals: tuple[str, ...] = ()
    #: The name of the enumeration.
    enumeration: str = ""


def plain(value: Any) -> Any:
    """A NumPy scalar as a Python one, a sequence as nested tuples."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(plain(part) for part in value)
    return value


def number(known: Variable, value: Any) -> float | None:
    """The number that a program takes for a value of a scalar variable; ``None`` for an expression."""
    value = plain(value)
    if isinstance(value, tuple):
        raise CallError(f"`{known.name}` is no array")
    if isinstance(value, Expression):
        return None
    if known.type == "enumeration":
        return _ordinal(known, value)
    if isinstance(value, str):
        return None
    if known.type == "Boolean":
        if not (isinstance(value, bool) or value in (0, 1)):
            raise CallError(f"`{known.name}` is a Boolean, so it cannot be {value!r}")
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CallError(f"`{known.name}` is {_a(known.type)}, so it cannot be {value!r}")
    if not math.isfinite(value):
        raise CallError(f"`{known.name}` = {value} is no finite number")
    if known.type == "Integer" and not float(value).is_integer():
        raise CallError(f"`{known.name}` is an Integer, so it cannot be {value!r}")
    return float(value)


def _ordinal(known: Variable, value: Any) -> float | None:
    if isinstance(value, enum.Enum):
        value = value.name
    if not isinstance(value, str):
        literals = ", ".join(repr(literal) for literal in known.literals[:4])
        raise CallError(f"`{known.name}` is an enumeration, so it cannot be {value!r}: give one of {literals}")
    literal = value.rpartition(".")[2]
    if literal in known.literals:
        return float(known.literals.index(literal) + 1)
    if literal.isidentifier():
        near = nearest(literal, known.literals) or list(known.literals[:3])
        said = " or ".join(f"`{name}`" for name in near)
        raise CallError(f"`{known.name}` has no value `{value}`; did you mean {said}?")
    return None


def value_of(known: Variable, stored: float | None) -> float | int | bool | str | None:
    """A number of a program as a value of its variable."""
    if stored is None or known.type == "Real":
        return stored
    if known.type == "Boolean":
        return bool(stored)
    if known.type == "enumeration" and 1 <= stored <= len(known.literals):
        return known.literals[int(stored) - 1]
    return int(stored)


def expression(known: Variable | None, value: Any) -> str:
    """A value as a Modelica expression."""
    value = plain(value)
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, tuple):
        if not value:
            raise CallError("an array without elements has no type: give it as an expression such as `fill(0.0, 0)`")
        return "{" + ", ".join(expression(known, part) for part in value) + "}"
    if known is not None and known.type == "String":
        if not isinstance(value, str):
            raise CallError(f"`{known.name}` is a String, so it cannot be {value!r}")
        return _quoted(value)
    if known is not None:
        as_number = number(known, value)
        if as_number is None:
            return str(value)
        typed = value_of(known, as_number)
        return f"{known.enumeration}.{typed}" if isinstance(typed, str) else expression(None, typed)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, float):
        raise CallError(f"{value!r} is no value of a parameter")
    if not math.isfinite(value):
        raise CallError(f"{value} is no finite number")
    return repr(value)


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(sign, sign) for sign in text) + '"'


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def split(
    values: Mapping[str, Value], known: Mapping[str, Variable], texts: Mapping[str, Variable]
) -> tuple[dict[str, float], dict[str, str]]:
    """What a program takes as numbers, and what needs a translation, as expressions."""
    numbers: dict[str, float] = {}
    anew: dict[str, str] = {}
    for name, value in values.items():
        if name in known:
            variable = known[name]
            if variable.role != "parameter":
                raise CallError(f"`{name}` is no parameter but {_article(variable.role)}")
            stored = number(variable, value)
            if stored is not None and variable.tunable:
                numbers[name] = stored
            else:
                anew[name] = expression(variable, value)
        elif name in texts:
            anew[name] = expression(texts[name], value)
        else:
            _split_other(name, plain(value), known, texts, numbers, anew)
    return numbers, anew


def _split_other(
    name: str,
    value: Any,
    known: Mapping[str, Variable],
    texts: Mapping[str, Variable],
    numbers: dict[str, float],
    anew: dict[str, str],
) -> None:
    """A whole array, an attribute such as ``x.start``, or a record."""
    elements = [variable for variable in known.values() if variable.name.startswith(name + "[")]
    elements += [variable for variable in texts.values() if variable.name.startswith(name + "[")]
    if isinstance(value, tuple) and elements and elements[0].role != "parameter":
        raise CallError(f"`{name}` is no parameter but {_article(elements[0].role)}")
    if isinstance(value, tuple) and elements:
        found = dict(_elements(name, value))
        if set(found) == {variable.name for variable in elements} and all(variable.tunable for variable in elements):
            stored = {variable.name: number(variable, found[variable.name]) for variable in elements}
            if all(part is not None for part in stored.values()):
                numbers.update({part: value for part, value in stored.items() if value is not None})
                return
        anew[name] = expression(elements[0], value)
        return
    whole = name.rpartition(".")[0]
    is_known = any(
        part in known or part in texts or any(other.startswith((part + "[", part + ".")) for other in (*known, *texts))
        for part in (name, whole)
        if part
    )
    if not is_known:
        parameters = [variable.name for variable in known.values() if variable.role == "parameter"]
        raise UnknownName(name, [*parameters, *texts], "parameter")
    anew[name] = expression(None, value)


def _elements(name: str, value: tuple[Any, ...], before: tuple[int, ...] = ()) -> Iterable[tuple[str, Any]]:
    for place, part in enumerate(value, 1):
        if isinstance(part, tuple):
            yield from _elements(name, part, (*before, place))
        else:
            yield f"{name}[{','.join(str(index) for index in (*before, place))}]", part


def _article(role: str) -> str:
    return {"input": "an input", "output": "an output", "constant": "a constant"}.get(role, "a variable that is computed")


