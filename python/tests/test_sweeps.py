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


def test_dask_goes_on_without_a_worker():
    distributed = pytest.importorskip("distributed")
    import gyrator.dask

    model = gyrator.load(EXAMPLES / "buck.mo")
    vary, settings = {"duty": (0.2, 0.8, 600)}, {"keep": ["store.v"], "intervals": 10}
    local = gyrator.sweep(model, vary, **settings)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        pids = client.run(os.getpid)
        killed = []

        def kill_one_that_works() -> None:
            while not killed:
                busy = [address for address, tasks in client.processing().items() if tasks and address in pids]
                if busy:
                    os.kill(pids[busy[0]], signal.SIGKILL)
                    killed.append(busy[0])
                time.sleep(0.01)

        killer = threading.Thread(target=kill_one_that_works)
        killer.start()
        found = gyrator.dask.sweep(client, model, vary, chunk=20, **settings)
        killer.join()
    assert killed and not found.failures
    assert np.array_equal(found.last("store.v"), local.last("store.v"))


def test_ray_goes_on_without_a_worker(monkeypatch):
    ray = pytest.importorskip("ray")
    import gyrator.ray

    model = gyrator.load(EXAMPLES / "buck.mo")
    vary, settings = {"duty": (0.2, 0.8, 600)}, {"keep": ["store.v"], "intervals": 10}
    local = gyrator.sweep(model, vary, **settings)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        victim = ray.get(ray.remote(lambda: os.getpid()).remote())
        killer = threading.Timer(0.3, lambda: os.kill(victim, signal.SIGKILL))
        killer.start()
        found = gyrator.ray.sweep(model, vary, chunk=20, **settings)
        killer.join()
        assert np.array_equal(found.last("store.v"), local.last("store.v"))
    finally:
        ray.shutdown()
