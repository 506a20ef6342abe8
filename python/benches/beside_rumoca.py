"""Time from the call in Python to the array: Gyrator beside rumoca, one run and many variants of examples/buck.mo.

    python benches/beside_rumoca.py [variants]

rumoca is left out where it is not installed, or where it cannot run the model.
"""

import os
import pathlib
import sys
import time

import gyrator
import numpy as np

BUCK = pathlib.Path(__file__).resolve().parents[2] / "examples" / "buck.mo"
DECAY = "model Decay\n  parameter Real k = 2;\n  Real x(start = 3, fixed = true);\nequation\n  der(x) = -k*x;\nend Decay;\n"


def measured(work, least=0.5):
    """The shortest of some repetitions, in seconds."""
    best, until = float("inf"), time.perf_counter() + least
    while time.perf_counter() < until:
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def one_run() -> None:
    model = gyrator.load(BUCK)
    print(f"buck, load and translate: {1e3 * measured(lambda: gyrator.load(BUCK)):.2f} ms")
    print(f"buck, run to array: {1e3 * measured(lambda: model.simulate()['store.v'][-1]):.2f} ms")
    small = gyrator.loads(DECAY)
    print(f"decay, text to array: {1e3 * measured(lambda: gyrator.loads(DECAY).simulate()['x'][-1]):.3f} ms")
    print(f"decay, run to array: {1e3 * measured(lambda: small.simulate()['x'][-1]):.3f} ms")


def variants(count: int) -> None:
    model = gyrator.load(BUCK)
    vary = {"duty": (0.2, 0.8, count)}
    seconds = {}
    for threads in sorted({1, os.cpu_count() or 1}):
        begin = time.perf_counter()
        found = gyrator.sweep(model, vary, keep=["store.v"], threads=threads)
        seconds[threads] = time.perf_counter() - begin
        assert not found.failures and np.all(np.isfinite(found.last("store.v")))
        print(f"{count} variants of buck on {threads} thread(s): {seconds[threads]:.2f} s")
    if len(seconds) > 1:
        print(f"speedup: {seconds[1] / seconds[max(seconds)]:.2f}")


def beside_rumoca(count: int) -> None:
    """The same with rumoca; a variant is a run with another value of a parameter."""
    try:
        import rumoca
    except ImportError:
        print("rumoca is not installed")
        return
    print("rumoca", rumoca.version())
    session = rumoca.Session()
    begin = time.perf_counter()
    small = session.loads(DECAY, model="Decay")
    print(f"decay, load: {1e3 * (time.perf_counter() - begin):.2f} ms")
    print(f"decay, run to array: {1e3 * measured(lambda: small.simulate(1.0, dt=0.002)['x'][-1]):.3f} ms")
    begin = time.perf_counter()
    try:
        model = session.load(str(BUCK), model="Buck.Converter")
        print(f"buck, load: {1e3 * (time.perf_counter() - begin):.1f} ms")
        begin = time.perf_counter()
        few = np.linspace(0.2, 0.8, count)
        ends = [model.simulate(0.002, dt=1e-6, params={"duty": duty})["store.v"][-1] for duty in few]
    except rumoca.RumocaError as error:
        print("rumoca cannot run buck:", str(error).splitlines()[0])
        return
    seconds = (time.perf_counter() - begin) / count
    ours = gyrator.sweep(gyrator.load(BUCK), {"duty": few.tolist()}, keep=["store.v"]).last("store.v")
    print(f"buck, run to array: {1e3 * seconds:.1f} ms, {1000 * seconds:.0f} s for 1000 variants")
    print(f"largest difference of the last voltages: {np.max(np.abs(np.array(ends) - ours)):.2g} V")


if __name__ == "__main__":
    one_run()
    variants(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    beside_rumoca(5)
