"""Many runs: on threads, on Dask, on Ray."""

import os
import signal
import threading
import time

import gyrator
import numpy as np
import pytest
from conftest import EXAMPLES


def test_threads(decay):
    found = gyrator.sweep(decay, {"k": (1, 4, 4), "grows": [0, 1]}, keep=["y"], threads=2, tolerance=1e-9)
    assert len(found) == 8 and not found.failures
    expected = [3 * np.exp((1 if v["grows"] else -1) * v["k"]) for v in found.variants]
    assert np.allclose(found.last("y"), expected, rtol=1e-6)
    assert found.reduce(lambda run: run["y"].max())[1] == pytest.approx(3 * np.e, rel=1e-6)


def test_structural_parameters_are_translated_once_each(decay):
    found = gyrator.sweep(decay, {"n": [1, 2], "k": [1, 2]}, stop=1)
    assert ["x[2]" in run for run in found.runs] == [False, False, True, True]


def test_failures_are_kept():
    model = gyrator.loads(
        "model M parameter Real a = 2; Real x(start = 0, fixed = true); equation der(x) = 1/(a - time); end M;"
    )
    found = gyrator.sweep(model, {"a": [2, 0.5]})
    assert isinstance(found[1], gyrator.SimulationError) and np.isnan(found.last("x")[1])
    assert len(found.failures) == 1
    pytest.importorskip("pandas")
    assert found.to_pandas("x").shape == (2, 2)


def test_progress_and_lists(decay):
    seen = []
    found = gyrator.sweep(decay, [{"k": 1}, {"k": 5}], callback=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (2, 2) and len(found) == 2
    with pytest.raises(gyrator.UnknownName):
        gyrator.sweep(decay, {"kk": [1]})
    with pytest.raises(gyrator.CallError, match="no setting"):
        gyrator.sweep(decay, {"k": [1]}, duration=3)


def kill_one(pids: list[int]) -> None:
    """Ends one of the workers while they work."""
    time.sleep(1.0)
    os.kill(pids[0], signal.SIGKILL)


def test_dask_goes_on_without_a_worker():
    distributed = pytest.importorskip("distributed")
    import gyrator.dask

    model = gyrator.load(EXAMPLES / "buck.mo")
    vary = {"duty": (0.2, 0.8, 60)}
    local = gyrator.sweep(model, vary, keep=["store.v"])
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        killer = threading.Thread(target=kill_one, args=(pids,))
        killer.start()
        found = gyrator.dask.sweep(client, model, vary, keep=["store.v"], chunk=3)
        killer.join()
        again = list(client.run(os.getpid).values())
    assert set(again) != set(pids)
    assert np.array_equal(found.last("store.v"), local.last("store.v"))


def test_ray_goes_on_without_a_worker(decay):
    ray = pytest.importorskip("ray")
    import gyrator.ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        victim = ray.get(ray.remote(os.getpid).remote())
        killer = threading.Timer(0.5, lambda: os.kill(victim, signal.SIGKILL))
        killer.start()
        found = gyrator.ray.sweep(decay, {"k": (1, 4, 40)}, keep=["y"], chunk=4)
        killer.join()
        assert np.allclose(found.last("y"), 3 * np.exp(-np.linspace(1, 4, 40)), rtol=1e-4)
    finally:
        ray.shutdown()
