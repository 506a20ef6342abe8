"""Sweeps on a Ray cluster. Workers get the texts of the model and translate it once each; Ray runs the work of workers that
are lost once more on others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gyrator._sweep import Sweep, Values, kind_of, run_variants, variants
from gyrator._values import Value

if TYPE_CHECKING:
    from gyrator._model import Model


def sweep(
    model: Model,
    vary: Mapping[str, Values] | Iterable[Mapping[str, Value]],
    *,
    keep: Iterable[str] | None = None,
    samples: int | None = None,
    sampling: str | None = None,
    seed: int = 0,
    chunk: int | None = None,
    retries: int = 3,
    **settings: Any,
) -> Sweep:
    """The same as :func:`gyrator.sweep` on the cluster that ``ray.init`` has joined, in chunks of variants."""
    import ray

    wanted = variants(vary, samples, sampling, seed, model)
    names = None if keep is None else [keep] if isinstance(keep, str) else list(keep)
    workers = int(ray.cluster_resources().get("CPU", 1))
    size = chunk or max(1, len(wanted) // max(4 * workers, 1))
    shared = ray.put(model)
    run = ray.remote(run_variants).options(max_retries=retries)
    pieces = [wanted[begin : begin + size] for begin in range(0, len(wanted), size)]
    found = ray.get([run.remote(shared, piece, names, 1, None, settings) for piece in pieces])
    return Sweep(wanted, [run for piece in found for run in piece], kind_of(vary, samples, sampling))
