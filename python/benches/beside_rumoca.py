"""From the call in Python to the array, and a thousand variants: Gyrator beside rumoca on the same models.

    python benches/beside_rumoca.py [variants] [folder of the Modelica Standard Library]

Times are CPU times of the process, so that other work on the machine disturbs them little; those of two threads are wall times of
rounds that alternate with those of one, the least of each. rumoca is left out where it is not installed, and a model that it
cannot translate is named with its message. Both tools write as many rows, and the ends of the runs are compared.
"""

import os
import pathlib
import sys
import time

import gyrator
import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

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

#: A buck converter that rumoca takes: one sample, a switch and a diode with small resistances, 400 switchings.
BUCK = """model Buck
  parameter Real V = 24, L = 1e-4, C = 1e-5, R = 5, Ron = 1e-3, Roff = 1e5, period = 1e-5, duty = 0.4;
  discrete Real begin(start = 0, fixed = true);
  Boolean on, conducts;
  Real i(start = 0, fixed = true), v(start = 0, fixed = true), vs, s;
equation
  when sample(0, period) then
    begin = time;
  end when;
  on = time < begin + duty*period;
  conducts = s > 0;
  vs = -s*(if conducts then Ron else 1);
  i = (V - vs)/(if on then Ron else Roff) + s*(if conducts then 1 else 1/Roff);
  L*der(i) = vs - v;
  C*der(v) = i - v/R;
end Buck;
"""

#: The same with the diode that always conducts when the switch does not.
SYNCHRONOUS = """model Buck
  parameter Real V = 24, L = 1e-4, C = 1e-5, R = 5, period = 1e-5, duty = 0.4;
  discrete Real begin(start = 0, fixed = true);
  Boolean on;
  Real i(start = 0, fixed = true), v(start = 0, fixed = true);
equation
  when sample(0, period) then
    begin = time;
  end when;
  on = time < begin + duty*period;
  L*der(i) = (if on then V else 0) - v;
  C*der(v) = i - v/R;
end Buck;
"""

#: Four inertias and three clutches in a row as in CoupledClutches, with friction that is a steep smooth function.
CLUTCHES = """model Clutches
  parameter Real J1 = 1, T2 = 0.4, frequency = 0.2, force = 20, w0 = 0.05;
  constant Real pi = 3.141592653589793;
  Real phi[4](each start = 0, each fixed = true), w1(start = 10, fixed = true);
  Real w2(start = 0, fixed = true), w3(start = 0, fixed = true), w4(start = 0, fixed = true);
  Real f1, f2, f3, tau1, tau2, tau3;
equation
  der(phi[1]) = w1;
  der(phi[2]) = w2;
  der(phi[3]) = w3;
  der(phi[4]) = w4;
  f1 = force*(if time < 0.1 then 0 else max(0, sin(10*pi*frequency*(time - 0.1))));
  f2 = if time < T2 then 0 else force;
  f3 = if time < 0.9 then 0 else force;
  tau1 = f1*tanh((w1 - w2)/w0);
  tau2 = f2*tanh((w2 - w3)/w0);
  tau3 = f3*tanh((w3 - w4)/w0);
  J1*der(w1) = 10*sin(2*pi*frequency*time) - tau1;
  der(w2) = tau1 - tau2;
  der(w3) = tau2 - tau3;
  der(w4) = tau3;
end Clutches;
"""

#: What it is called, text, class, variable, stop, a parameter and its values. All have 500 intervals.
MODELS = [
    ("ball", BALL, "Ball", "h", 2.0, "e", (0.5, 0.9)),
    ("ladder", LADDER, "Ladder", "v[40]", 0.2, "R", (0.5, 2.0)),
    ("buck, diode", BUCK, "Buck", "v", 0.002, "duty", (0.2, 0.8)),
    ("buck, synchronous", SYNCHRONOUS, "Buck", "v", 0.002, "duty", (0.2, 0.8)),
    ("clutches, smooth", CLUTCHES, "Clutches", "w4", 1.5, "J1", (0.5, 2.0)),
]
COUPLED = "Modelica.Mechanics.Rotational.Examples.CoupledClutches"


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
    for title, text, name, variable, stop, parameter, (low, high) in MODELS:
        values = np.linspace(low, high, count)
        model = gyrator.loads(text)
        settings = {"stop": stop, "intervals": 500}
        ours = [
            cpu(lambda: gyrator.loads(text).simulate(**settings)[variable][-1], 10),
            cpu(lambda: model.simulate(**settings)[variable][-1], 20),
            cpu(lambda: gyrator.sweep(model, {parameter: values}, keep=[variable], threads=1, **settings), 1) / count,
        ]
        interval = stop / 500
        try:
            other = rumoca.Session().loads(text, model=name)
            end = other.simulate(stop, dt=interval)[variable][-1]
        except rumoca.RumocaError as error:
            print(f"{title}: {ours[2]:.3f} ms a variant; rumoca: {str(error).splitlines()[0]}")
            continue

        def run(value):
            try:
                return other.simulate(stop, dt=interval, params={parameter: value})[variable][-1]
            except rumoca.RumocaError:
                return None

        few = values[:: max(1, count // 20)]
        lost = sum(run(value) is None for value in few)
        few = [value for value in few if run(value) is not None]
        theirs = [
            cpu(lambda: rumoca.Session().loads(text, model=name).simulate(stop, dt=interval)[variable][-1], 3),
            cpu(lambda: other.simulate(stop, dt=interval)[variable][-1], 5),
            cpu(lambda: [run(value) for value in few], 1) / max(len(few), 1),
        ]
        own = model.simulate(**settings).last(variable)
        agree = f"both end at {own:.6g}" if abs(own - end) <= 1e-3 * abs(own) else f"ends {own:.6g} and {end:.6g}"
        print(f"{title}: {agree}{f'; of {lost + len(few)} variants rumoca fails in {lost}' if lost else ''}")
        for what, mine, their in zip(("text to array", "run to array", "a variant of many"), ours, theirs):
            print(f"  {what}: {mine:.3f} ms, rumoca {their:.3f} ms, {their / mine:.1f} times")


def variants(title, model, vary, variable, count, **settings):
    """One and two threads."""
    seconds, used = {1: [], 2: []}, {}
    for _ in range(3):
        for threads in (1, 2):
            begin, cpu_begin = time.perf_counter(), time.process_time()
            found = gyrator.sweep(model, vary, keep=[variable], threads=threads, **settings)
            seconds[threads].append(time.perf_counter() - begin)
            used[threads] = min(used.get(threads, np.inf), time.process_time() - cpu_begin)
    fast = {threads: min(rounds) for threads, rounds in seconds.items()}
    each = 1e3 * used[1] / count
    print(f"{title}: {count} variants, {each:.2f} ms CPU each; {used[1]:.2f} and {used[2]:.2f} s CPU on one and two threads, "
          f"{fast[1]:.2f} and {fast[2]:.2f} s on the wall, {fast[1] / fast[2]:.2f} times")  # fmt: skip
    for variant, error in found.failures:
        print(f"  {variant} failed: {str(error).splitlines()[0]}")


def refused(title, load):
    """What rumoca says about a model that it cannot translate."""
    try:
        import rumoca

        load(rumoca)
        print(f"rumoca translates {title}")
    except ImportError:
        pass
    except Exception as error:
        print(f"rumoca, {title}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    beside(count)
    variants("buck with ideal switches", gyrator.load(EXAMPLES / "buck.mo"), {"duty": (0.2, 0.8, count)}, "store.v", count)
    refused("buck with ideal switches", lambda tool: tool.Session().load(str(EXAMPLES / "buck.mo"), model="Buck.Converter"))
    if len(sys.argv) > 2:
        coupled = gyrator.load(COUPLED, libraries=[sys.argv[2]])
        variants("CoupledClutches", coupled, {"J1.J": (0.5, 2, count)}, "J4.w", count, intervals=500)
        path = os.path.join(sys.argv[2], "Modelica", "package.mo")
        refused("CoupledClutches", lambda tool: tool.Session(roots=[sys.argv[2]]).load(path, model=COUPLED))
