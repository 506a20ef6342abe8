"""Pictures of sweeps, with Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gyrator._errors import CallError, GyratorError

if TYPE_CHECKING:
    from gyrator._sweep import Quantity, Sweep

Array = npt.NDArray[np.float64]


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots()[1]


def _named(of: Quantity) -> str:
    return of if isinstance(of, str) else getattr(of, "__name__", "quantity").replace("<lambda>", "quantity")


def fan(sweep: Sweep, name: str, axes: Any) -> Any:
    runs = [run for run in sweep.runs if not isinstance(run, GyratorError)]
    if not runs:
        raise CallError("all variants failed")
    begin, end = min(float(run.time[0]) for run in runs), max(float(run.time[-1]) for run in runs)
    time = np.linspace(begin, end, 501)
    # A run that ended before has no value behind its end.
    rows = np.array([np.interp(time, run.time, run[name], right=np.nan) for run in runs])
    axes = _axes(axes)
    for share, alpha in ((0.5, 0.10), (0.45, 0.14), (0.25, 0.25)):
        low, high = np.nanquantile(rows, [0.5 - share, 0.5 + share], axis=0)
        axes.fill_between(time, low, high, color="C0", alpha=alpha, lw=0, label=f"{200 * share:.0f} %")
    axes.plot(time, np.nanmedian(rows, axis=0), color="C0", label="median")
    unit = runs[0].units.get(name, "")
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"{name} [{unit}]" if unit else name)
    axes.legend()
    return axes


def heatmap(sweep: Sweep, of: Quantity, axes: Any) -> Any:
    several = [name for name in sweep.variants[0] if len({variant[name] for variant in sweep.variants}) > 1]
    if len(several) != 2:
        raise CallError("a heat map needs exactly two parameters with several values each")
    across, up = (list(dict.fromkeys(variant[name] for variant in sweep.variants)) for name in several)
    values = np.full((len(up), len(across)), np.nan)
    if len(across) * len(up) != len(sweep):
        raise CallError("a heat map needs all combinations of two parameters")
    for variant, value in zip(sweep.variants, sweep.reduce(of)):
        values[up.index(variant[several[1]]), across.index(variant[several[0]])] = value
    axes = _axes(axes)
    image = axes.imshow(values, origin="lower", aspect="auto")
    for axis, name, levels in ((axes.xaxis, several[0], across), (axes.yaxis, several[1], up)):
        shown = range(0, len(levels), max(1, (len(levels) + 7) // 8))
        axis.set_ticks(list(shown), [_shown(levels[place]) for place in shown])
        axis.set_label_text(name)
    axes.figure.colorbar(image, ax=axes, label=_named(of))
    return axes


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tornado(sweep: Sweep, of: Quantity, axes: Any) -> Any:
    values = sweep.reduce(of)
    bars = [(name, *found) for name in sweep.variants[0] if (found := _ends(sweep, values, name)) is not None]
    if not bars:
        raise CallError("the quantity has no value in any variant")
    base = float(values[0]) if sweep.sampling == "one-at-a-time" else float(np.nanmean(values))
    bars.sort(key=lambda bar: max(bar[2][1], base) - min(bar[1][1], base))
    axes = _axes(axes)
    for place, (_, low, high) in enumerate(bars):
        for (parameter, value), colour, side in ((low, "C0", "right"), (high, "C1", "left")):
            axes.barh(place, value - base, left=base, color=colour, height=0.6)
            at = min(value, base) if side == "right" else max(value, base)
            axes.annotate(f" {_shown(parameter)} ", (at, place), ha=side, va="center")
    axes.axvline(base, color="0.4", lw=1)
    axes.set_yticks(range(len(bars)), [bar[0] for bar in bars])
    axes.margins(x=0.25)
    axes.set_xlabel(_named(of))
    return axes


#: A value of a parameter, and the quantity there.
_End = tuple[object, float]


def _ends(sweep: Sweep, values: Array, name: str) -> tuple[_End, _End] | None:
    """Where the quantity is lowest and highest when one parameter moves."""
    pairs = [(variant[name], float(value)) for variant, value in zip(sweep.variants, values) if np.isfinite(value)]
    if sweep.sampling == "one-at-a-time":
        base = sweep.variants[0]
        moved = [all(v[other] == base[other] for other in base if other != name) for v in sweep.variants]
        points = [(v[name], float(value)) for v, value, ok in zip(sweep.variants, values, moved) if ok and np.isfinite(value)]
    else:
        levels = list(dict.fromkeys(parameter for parameter, _ in pairs))
        is_spread = sweep.sampling not in ("grid", "list") and len(levels) > 3 and all(isinstance(v, float) for v in levels)
        if is_spread:
            pairs.sort(key=lambda pair: pair[0])
            thirds = [pairs[k * len(pairs) // 3 : (k + 1) * len(pairs) // 3] for k in range(3)]
            points = [(float(np.mean([p for p, _ in part])), float(np.mean([v for _, v in part]))) for part in thirds]
        else:
            points = [(level, float(np.mean([v for p, v in pairs if p == level]))) for level in levels]
    if not points:
        return None
    return min(points, key=lambda pair: pair[1]), max(points, key=lambda pair: pair[1])
