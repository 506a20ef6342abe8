"""Sweeps on a Dask cluster. Workers get the texts of the model and translate it once each; Dask runs the work of workers that
are lost once more on others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gyrator._sweep import Sweep, Values, kind_of, run_variants, variants
from gyrator._values import Value

if TYPE_CHECKING:
    from gyrator._model import Model


def sweep(
    client: Any,
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
    """The same as :func:`gyrator.sweep` on the workers of a ``distributed.Client``, in chunks of variants."""
    wanted = variants(vary, samples, sampling, seed, model)
    names = None if keep is None else [keep] if isinstance(keep, str) else list(keep)
    size = chunk or max(1, len(wanted) // max(4 * len(client.scheduler_info()["workers"]), 1))
    shared = client.scatter(model, broadcast=True)
    pieces = [wanted[begin : begin + size] for begin in range(0, len(wanted), size)]
    futures = [
        client.submit(run_variants, shared, piece, names, 1, None, settings, retries=retries, pure=False)
        for piece in pieces
    ]
    return Sweep(wanted, [run for found in client.gather(futures) for run in found], kind_of(vary, samples, sampling))
