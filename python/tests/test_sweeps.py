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
    frame = found.to_pandas("x", statistics=True)
    assert list(frame) == ["a", "status", "message", "x", "min(x)", "max(x)", "mean(x)"]
    assert list(frame["status"]) == ["ok", "failed"] and frame["message"][1] and not frame["message"][0]
    # The mean of log(2/(2 - t)).
    assert frame["mean(x)"][0] == pytest.approx(1 - np.log(2), rel=1e-3)


def test_progress_and_lists(decay):
    seen = []
    found = gyrator.sweep(decay, [{"k": 1}, {"k": 5}], callback=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (2, 2) and len(found) == 2
    with pytest.raises(gyrator.UnknownName):
        gyrator.sweep(decay, {"kk": [1]})
    with pytest.raises(gyrator.CallError, match="no setting"):
        gyrator.sweep(decay, {"k": [1]}, duration=3)


def test_values_of_all_types():
    text = (
        "model M type E = enumeration(low, high); parameter E e = E.low; parameter Boolean on = false; parameter String s = \"a\";"
        " parameter Integer n = 1; parameter Real p[2] = {1, 2}; Real w[n] = fill(1, n);"
        " Real y = (if e == E.high then 100 else 0) + (if on then 10 else 0) + (if s == \"b\" then 1000 else 0) + p[2] + sum(w); end M;"
    )
    model = gyrator.loads(text)
    vary = {"e": ["low", "high"], "on": [True, False], "s": ["a", "b"], "p": [[1, 2], [1, 5]], "n": 3}
    found = gyrator.sweep(model, vary, keep="y", intervals=1)
    assert len(found) == 16 and not found.failures
    expected = [100 * (v["e"] == "high") + 10 * v["on"] + 1000 * (v["s"] == "b") + v["p"][1] + 3 for v in found.variants]
    assert found.last("y").tolist() == expected
    with pytest.raises(gyrator.CallError, match="an Integer"):
        gyrator.sweep(model, {"n": (1, 2, 3)})


def test_a_value_that_needs_a_translation_of_its_own():
    # Whether `a` vanishes decides which unknowns the equation has.
    text = "model M parameter Real a = 1; Real x, y; equation a*x + y = 3; x - y = 1; end M;"
    found = gyrator.sweep(gyrator.loads(text), {"a": [1, 0, 3]}, intervals=1)
    assert np.allclose(found.last("x"), [2, 4, 1])


def test_samples(decay):
    vary = {"k": gyrator.log(0.1, 10), "n": (1, 3), "grows": [False, True]}
    found = gyrator.sweep(decay, vary, samples=30, seed=4, intervals=1)
    again = gyrator.sweep(decay, vary, samples=30, seed=4, intervals=1, threads=1)
    other = gyrator.sweep(decay, vary, samples=30, seed=5, intervals=1)
    assert found.variants == again.variants and found.variants != other.variants
    # A Latin hypercube: each tenth of a decade, each number and each truth value as often as the others.
    decades = np.log10([variant["k"] for variant in found.variants])
    assert sorted(np.floor((decades + 1) * 15)) == list(range(30))
    assert [sum(v["n"] == n for v in found.variants) for n in (1, 2, 3)] == [10, 10, 10]
    assert sum(v["grows"] for v in found.variants) == 15
    for kind in ("random", "sobol"):
        drawn = gyrator.sweep(decay, {"k": gyrator.normal(3, 0.1)}, samples=64, sampling=kind, intervals=1)
        assert np.mean([v["k"] for v in drawn.variants]) == pytest.approx(3, abs=0.06)
    one = gyrator.sweep(decay, {"k": (1, 3), "n": [1, 2]}, sampling="one-at-a-time", intervals=1)
    assert one.variants[0] == {"k": 2.0, "n": 1} and len(one) == 5
    for wrong, said in (
        ({"samples": 0}, "at least one"),
        ({"sampling": "sobol"}, "how many"),
        ({"samples": 3, "sampling": "soboll"}, "no sampling"),
    ):
        with pytest.raises(gyrator.CallError, match=said):
            gyrator.sweep(decay, {"k": (1, 2)}, **wrong)


@pytest.mark.parametrize(
    "vary, chosen",
    [
        ({"k": (1, 2)}, {"samples": 10**12}),
        ({"k": (1, 2)}, {"samples": 10_000_001, "sampling": "random"}),
        # Three times as many.
        ({"k": (1, 2)}, {"samples": 4_000_000, "sampling": "saltelli"}),
        ({"k": (1, 2, 10**12)}, {}),
        ({"k": (1, 2, 1e12)}, {}),
        ({"k": gyrator.log(1, 2, 10**12)}, {}),
        ({"k": (1, 2, 10**5), "n": (1, 2, 10**5)}, {}),
        ({"k": range(10**12)}, {}),
        ({"k": (1, 2, 10_000_000), "n": [1, 2]}, {"sampling": "one-at-a-time"}),
    ],
)
def test_too_many_variants_are_refused(vary, chosen, decay, monkeypatch):
    from gyrator import _gyrator

    # Before anything is made: that would end the process, or fill the memory.
    for maker in ("sample", "levels"):
        monkeypatch.setattr(_gyrator, maker, lambda *_: pytest.fail("made"))
    monkeypatch.setattr("itertools.product", lambda *_: pytest.fail("made"))
    with pytest.raises(gyrator.CallError, match="these are more than 10000000 variants"):
        gyrator.sweep(decay, vary, **chosen)


def test_counts_of_ranges(decay):
    from gyrator._sweep import variants

    for count in (5, 5.0, np.float64(5), np.int32(5)):
        assert [variant["k"] for variant in variants({"k": (1, 3, count)})] == [1, 1.5, 2, 2.5, 3]
        assert len(variants({"k": gyrator.log(1, 3, count)})) == 5
        assert len(variants({"k": (1, 3)}, samples=count)) == 5
    # A tuple of more or other values is a list of them.
    assert [variant["k"] for variant in variants({"k": (1, 2, 4, 8.5)})] == [1, 2, 4, 8.5]
    assert [variant["on"] for variant in variants({"on": (True, False)})] == [True, False]
    for samples in ({}, {"samples": 4}):
        with pytest.raises(gyrator.CallError, match=r"these three values are \[10, 100, 2.5\]"):
            gyrator.sweep(decay, {"k": (10, 100, 2.5)}, **samples)
    for count in (2.5, float("nan"), True):
        with pytest.raises(gyrator.CallError, match="count of `k` is a whole number"):
            gyrator.sweep(decay, {"k": gyrator.log(1, 2, count)})
        with pytest.raises(gyrator.CallError, match="`samples` is a whole number"):
            gyrator.sweep(decay, {"k": (1, 2)}, samples=count)
    for given in ((6, 20), gyrator.log(6, 20)):
        with pytest.raises(gyrator.CallError, match=r"how many values of `k`\? Give a count, list the values"):
            gyrator.sweep(decay, {"k": given})


def test_sobol_indices_of_a_product():
    # The variance of x y with x in (0, 2), y in (0, 1): first order (1/12, 1/12)·…, total with the interaction.
    model = gyrator.loads("model M parameter Real x = 1, y = 1; Real z = x*y; end M;")
    found = gyrator.sweep(model, {"x": (0, 2), "y": (0, 1)}, samples=1024, sampling="saltelli", intervals=1).indices("z")
    # E[x]=1, Var[x]=1/3, E[y]=1/2, Var[y]=1/12.
    variance = (1 / 3) * (1 / 4) + 1 / 12 + (1 / 3) * (1 / 12)
    assert found["x"].first == pytest.approx((1 / 12) / variance, abs=0.03)
    assert found["y"].total == pytest.approx((1 / 12 + 1 / 36) / variance, abs=0.03)


def test_pictures(decay, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    grid = gyrator.sweep(decay, {"k": (1, 3, 3), "grows": [False, True]}, keep=["y"], intervals=20)
    assert grid.fan("y").get_xlabel() == "time [s]"
    heat = grid.heatmap("y").images[0].get_array()
    assert np.allclose(heat, [[3 * np.exp(-k) for k in (1, 2, 3)], [3 * np.exp(k) for k in (1, 2, 3)]], rtol=1e-4)
    bars = grid.tornado("y")
    assert [label.get_text() for label in bars.get_yticklabels()] == ["k", "grows"]
    samples = gyrator.sweep(decay, {"k": (1, 3)}, samples=20, keep=["y"], intervals=20)
    samples.tornado(lambda run: run["y"].max()).figure.savefig(tmp_path / "tornado.png")
    with pytest.raises(gyrator.CallError, match="two parameters"):
        samples.heatmap("y")
    pyplot.close("all")


OSCILLATOR = """model Oscillator
  parameter Real w = 10;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -w^2*x;
end Oscillator;
"""


def test_a_journal_goes_on_after_a_kill(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "sweep.journal"
    program = tmp_path / "sweep.py"
    program.write_text(
        "import gyrator\nfrom test_sweeps import OSCILLATOR\n"
        f"gyrator.sweep(gyrator.loads(OSCILLATOR), {{'w': (9, 11, 200)}}, threads=1, journal={str(path)!r}, stop=200, intervals=5)\n"
    )
    paths = [os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    first = subprocess.Popen([sys.executable, str(program)], env=environment)
    while not (path.exists() and path.stat().st_size > 1000):
        assert first.poll() is None, "too fast to be killed"
        time.sleep(0.002)
    first.kill()
    first.wait()
    # As if the kill had come within a record.
    os.truncate(path, path.stat().st_size - 7)
    there = path.stat().st_size
    model, vary, settings = gyrator.loads(OSCILLATOR), {"w": (9, 11, 200)}, {"stop": 200, "intervals": 5}
    done = []
    again = gyrator.sweep(model, vary, journal=path, callback=lambda count, _: done.append(count), **settings)
    assert 1 < done[0] and done[-1] == 200 and path.stat().st_size > there
    assert np.array_equal(again.last("x"), gyrator.sweep(model, vary, **settings).last("x"))
    with pytest.raises(gyrator.CallError, match="another sweep"):
        gyrator.sweep(model, {"w": (9, 12, 200)}, journal=path, **settings)


def journalled(path, model, vary, settings):
    """The runs in a journal, as a kill would leave it now."""
    from gyrator._journal import Journal
    from gyrator._sweep import variants

    copy = path.with_suffix(".copy")
    copy.write_bytes(path.read_bytes())
    with Journal(copy, model, variants(vary), None, settings) as journal:
        return journal.runs


@pytest.mark.parametrize("threads", [1, 3])
def test_a_journal_has_what_the_callback_was_told_of(threads, tmp_path):
    path = tmp_path / "sweep.journal"
    model = gyrator.loads(OSCILLATOR)
    vary, settings = {"w": (9, 11, 40)}, {"stop": 2, "intervals": 5}
    told = []

    def callback(done, count):
        told.append(done)
        assert len(journalled(path, model, vary, settings)) >= done and count == 40
        if done == 10:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        gyrator.sweep(model, vary, journal=path, callback=callback, threads=threads, **settings)
    assert told == list(range(1, 11))
    there = len(journalled(path, model, vary, settings))
    assert there >= 10
    again = []
    settings["callback"] = lambda done, _: again.append(done)
    found = gyrator.sweep(model, vary, journal=path, threads=threads, **settings)
    assert again == list(range(there + 1, 41))
    # Oscillations, each with its frequency.
    assert np.allclose(found.last("x"), [np.cos(2 * variant["w"]) for variant in found.variants], atol=1e-2)
    assert np.array_equal(found.last("x"), gyrator.sweep(model, vary, **settings).last("x"))


def test_an_interrupted_sweep_ends_soon_and_keeps_what_is_finished(tmp_path):
    path = tmp_path / "sweep.journal"
    model = gyrator.loads(OSCILLATOR)
    # The first run is short, the other one would take very long.
    vary, settings = [{"w": 1e-3}, {"w": 1e6}], {"stop": 1e3, "intervals": 1}

    def interrupt(done, _):
        os.kill(os.getpid(), signal.SIGINT)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        gyrator.sweep(model, vary, journal=path, callback=interrupt, threads=2, **settings)
    assert time.monotonic() - begin < 20
    there = journalled(path, model, vary, settings)
    assert list(there) == [0] and there[0].last("x") == pytest.approx(np.cos(1), rel=1e-3)


def test_a_journal_that_was_damaged(tmp_path):
    path = tmp_path / "sweep.journal"
    model, vary = gyrator.loads(OSCILLATOR), {"w": (9, 11, 20)}
    first = gyrator.sweep(model, vary, journal=path, threads=1, intervals=5).last("x")
    whole = path.read_bytes()
    for place in (len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        told = []
        again = gyrator.sweep(model, vary, journal=path, intervals=5, callback=lambda done, _: told.append(done))
        assert told and told[-1] == 20 and np.array_equal(again.last("x"), first)


def test_a_callback_that_raised_is_not_called_again(decay):
    told = []

    def callback(done, _):
        told.append(done)
        if done >= 10:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        gyrator.sweep(decay, {"k": (1, 2, 400)}, threads=2, callback=callback, intervals=2)
    assert told[-1] == 10 and sum(done >= 10 for done in told) == 1


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
