"""From the call in Python to the array: Gyrator beside rumoca, and many variants of examples/buck.mo.

    python benches/beside_rumoca.py [variants]

Times are CPU times, so that other work on the machine disturbs them little, but for those of threads. rumoca is left out where
it is not installed or cannot run a model.
"""

import os
import pathlib
import sys
import time

import gyrator
import numpy as np

BUCK = pathlib.Path(__file__).resolve().parents[2] / "examples" / "buck.mo"

BALL = """model Ball
  parameter Real e = 0.8;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
end Ball;
"""

LADDER = """model Ladder
  parameter Integer n = 40;
  parameter Real R = 1;
  Real v[n](each start = 0, each fixed = true), i[n](each start = 0, each fixed = true);
equation
  der(v[1]) = 1e3*(i[1] - i[2]);
  der(i[1]) = 1e3*(1 - v[1] - R*i[1]);
  for k in 2:n-1 loop
    der(v[k]) = 1e3*(i[k] - i[k+1]);
    der(i[k]) = 1e3*(v[k-1] - v[k] - R*i[k]);
  end for;
  der(v[n]) = 1e3*(i[n] - v[n]);
  der(i[n]) = 1e3*(v[n-1] - v[n] - R*i[n]);
end Ladder;
"""

#: Text, name, variable, stop, interval, a parameter and its values.
MODELS = [
    (BALL, "Ball", "h", 2.0, 0.004, "e", (0.5, 0.9)),
    (LADDER, "Ladder", "v[40]", 0.2, 0.0004, "R", (0.5, 2.0)),
]


def cpu(work, count):
    """CPU milliseconds of one of some repetitions."""
    work()
    begin = time.process_time()
    for _ in range(count):
        work()
    return 1e3 * (time.process_time() - begin) / count


def beside(count):
    try:
        import rumoca
    except ImportError:
        print("rumoca is not installed")
        return
    print("rumoca", rumoca.version())
    for text, name, variable, stop, interval, parameter, (low, high) in MODELS:
        values = np.linspace(low, high, count)
        model = gyrator.loads(text)
        ours = [
            cpu(lambda: gyrator.loads(text).simulate(stop=stop, interval=interval)[variable][-1], 10),
            cpu(lambda: model.simulate(stop=stop, interval=interval)[variable][-1], 20),
        ]
        vary = {parameter: values}
        ours.append(cpu(lambda: gyrator.sweep(model, vary, keep=[variable], stop=stop, interval=interval, threads=1), 1) / count)
        other = rumoca.Session().loads(text, model=name)
        theirs = [
            cpu(lambda: rumoca.Session().loads(text, model=name).simulate(stop, dt=interval)[variable][-1], 3),
            cpu(lambda: other.simulate(stop, dt=interval)[variable][-1], 5),
        ]
        few = values[:: max(1, count // 20)]
        theirs.append(
            cpu(lambda: [other.simulate(stop, dt=interval, params={parameter: v})[variable][-1] for v in few], 1) / len(few)
        )
        for what, own, their in zip(("text to array", "run to array", "a variant of many"), ours, theirs):
            print(f"{name}, {what}: {own:.3f} ms, rumoca {their:.3f} ms, {their / own:.1f} times")
    try:
        rumoca.Session().load(str(BUCK), model="Buck.Converter")
    except rumoca.RumocaError as error:
        print("rumoca cannot run buck:", str(error).splitlines()[0])


def variants(count):
    model = gyrator.load(BUCK)
    seconds = {}
    for threads in sorted({1, os.cpu_count() or 1}):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        found = gyrator.sweep(model, {"duty": (0.2, 0.8, count)}, keep=["store.v"], threads=threads)
        seconds[threads] = time.perf_counter() - begin
        used = time.process_time() - cpu_begin
        assert not found.failures and np.all(np.isfinite(found.last("store.v")))
        print(f"{count} variants of buck on {threads} thread(s): {seconds[threads]:.2f} s, {used:.2f} s CPU")
    print(f"speedup: {seconds[1] / seconds[max(seconds)]:.2f}")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    variants(count)
    beside(count)
