"""Loads exports of `gyrator linearize x.bond` into python-control and Octave, compares their step responses with our
simulation, and times BondGraphTools on the same system.

    python3 crates/bond/scripts/compare.py GYRATOR FOLDER

Needs python-control, BondGraphTools, and Octave with its package `control`.
"""

import csv
import pathlib
import runpy
import subprocess
import sys
import time

import control
import numpy as np

GRAPH = """bondgraph Oscillator
Se F = 1
1 v
C k = 0.5
I m = 2
R d = 3
F -> v -> k, m, d
output k.e
"""


def main():
    gyrator, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.bond").write_text(GRAPH)

    def run(*arguments):
        return subprocess.run([gyrator, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout

    run("simulate", "x.bond", "--stop-time", "10", "--intervals", "100", "--tolerance", "1e-10", "--output", "x.csv")
    rows = list(csv.DictReader((folder / "x.csv").open()))
    at = np.array([float(row["time"]) for row in rows])
    ours = np.array([float(row["k.e"]) for row in rows])
    for kind in [[], ["--symbolic"]]:
        for name, ending in [("python", "py"), ("matlab", "m")]:
            run("linearize", "x.bond", *kind, "--format", name, "--output", f"x.{ending}")
        system = runpy.run_path(str(folder / "x.py"))["sys"]
        found = control.step_response(system, T=at).outputs
        print("python", *kind, np.abs(found - ours).max())
        script = f"cd {folder}; run('x.m'); y = step(sys, linspace(0, 10, 101)'); dlmwrite('y.csv', y, 'precision', '%.17g');"
        subprocess.run(["octave", "--no-gui", "--quiet", "--eval", script], check=True)
        print("Octave", *kind, np.abs(np.loadtxt(folder / "y.csv") - ours).max())

    import BondGraphTools as bgt

    begin = time.perf_counter()
    model = bgt.new(name="Oscillator")
    parts = [bgt.new("Se", name="F", value=1), bgt.new("C", name="k", value=0.5), bgt.new("I", name="m", value=2),
             bgt.new("R", name="d", value=3)]
    junction = bgt.new("1")
    bgt.add(model, *parts, junction)
    bgt.connect(parts[0], junction)
    for part in parts[1:]:
        bgt.connect(junction, part)
    relations = model.constitutive_relations
    theirs = time.perf_counter() - begin
    begin = time.perf_counter()
    text = run("linearize", "x.bond", "--symbolic")
    print(f"BondGraphTools {theirs:.3f} s, gyrator (whole program) {time.perf_counter() - begin:.3f} s")
    print(relations)
    print(text)


if __name__ == "__main__":
    main()
