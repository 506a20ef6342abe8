"""Loads the exports of one system into python-control and Octave and compares zeros, poles, step and frequency responses.

    cargo run -p gyrator-linear --example exports -- FOLDER
    python3 crates/linear/scripts/compare.py FOLDER

Needs python-control and Octave with its package `control`.
"""

import json
import pathlib
import runpy
import subprocess
import sys

import control
import numpy as np


def nearest(found, expected):
    """The largest distance between two sets of numbers of the same size, relative to the larger ones."""
    assert len(found) == len(expected), (found, expected)
    rest = list(found)
    worst = 0.0
    for value in expected:
        best = min(rest, key=lambda other: abs(other - value))
        rest.remove(best)
        worst = max(worst, abs(best - value) / max(1.0, abs(value)))
    return worst


def main():
    folder = pathlib.Path(sys.argv[1])
    ours = json.loads((folder / "car.json").read_text())
    poles = [complex(*pair) for pair in ours["poles"]]
    zeros = [complex(*pair) for pair in ours["zeros"]]
    time = np.array(ours["time"])
    errors = {}

    system = runpy.run_path(str(folder / "car.py"))["sys"]
    for labels, key in [(system.state_labels, "states"), (system.input_labels, "inputs"), (system.output_labels, "outputs")]:
        assert labels == [name.replace(".", "_") for name in ours[key]]
    errors["python poles"] = nearest(system.poles(), poles)
    errors["python zeros"] = nearest(system.zeros(), zeros)
    steps = control.step_response(system, T=time).outputs
    for k, curve in enumerate(ours["step"]):
        size = np.abs(curve).max()
        errors[f"python step {k}"] = np.abs(steps[k // 2, k % 2] - curve).max() / size
    for frequency, values in zip([0.1, 1.0, 7.0, 60.0], ours["response"]):
        expected = system(1j * frequency).flatten()
        found = np.array(values).reshape(-1, 2) @ np.array([1, 1j])
        errors[f"python response at {frequency}"] = np.abs((found - expected) / np.abs(expected).max()).max()

    script = f"""
    cd {folder}
    run('car.m');
    assert(strcmp(sys.stname{{3}}, '{ours["states"][2]}'));
    t = linspace(0, {time[-1]}, {len(time)})';
    y = step(sys, t);
    dlmwrite('octave-step.csv', [y(:,1,1), y(:,1,2), y(:,2,1), y(:,2,2)], 'precision', '%.17g');
    function keep(name, z)
      file = fopen(name, 'w');
      fprintf(file, '%.17g,%.17g\\n', [real(z(:)), imag(z(:))]');
      fclose(file);
    end
    keep('octave-poles.csv', pole(sys));
    keep('octave-zeros.csv', zero(sys));
    for k = 0:3
      keep(sprintf('octave-zeros-%d.csv', k), zero(sys(floor(k / 2) + 1, mod(k, 2) + 1)));
    end
    """
    subprocess.run(["octave", "--no-gui", "--quiet", "--eval", script], check=True)
    steps = np.loadtxt(folder / "octave-step.csv", delimiter=",")
    for k, curve in enumerate(ours["step"]):
        errors[f"Octave step {k}"] = np.abs(steps[:, k] - curve).max() / np.abs(curve).max()
    lists = [("zeros", zeros), ("poles", poles)]
    for k, pairs in enumerate(ours["pair zeros"]):
        lists.append((f"zeros-{k}", [complex(*pair) for pair in pairs]))
        errors[f"python zeros-{k}"] = nearest(system[k // 2, k % 2].zeros(), lists[-1][1])
    for key, expected in lists:
        lines = (folder / f"octave-{key}.csv").read_text().split()
        found = [complex(*map(float, line.split(","))) for line in lines if line != ","]
        errors[f"Octave {key}"] = nearest(found, expected)

    for name, error in errors.items():
        print(f"{name:28} {error:.1e}")
    # Double zeros come out of both with the square root of the rounding errors.
    sys.exit(any(not error < (1e-6 if "zeros" in name else 1e-9) for name, error in errors.items()))


main()
