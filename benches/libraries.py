#!/usr/bin/env python3
"""Which models of other people's libraries run: writes the table of docs/libraries-that-run.md.

    libraries.py --gyrator target/release/gyrator --root FOLDER --list LIST.json [--jobs N] > table.md

FOLDER holds one checkout a library. LIST.json says what is tried: {"OpenIPSL": {"version": "3.1.0", "folders": ["."],
"standard": "/path/to/Modelica 4.1.0", "references": "Resources/…", "models": ["OpenIPSL.Examples.…"]}}; `folders` are loaded with -L,
below the checkout. `references` is a folder of result files `Model.Name.csv`, where a library has some: each is compared with
`gyrator compare`. Every model has 20 CPU seconds and 6 GB.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

CPU_SECONDS, MEMORY = 20, 6 << 30


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def succeeds(call, folder):
    return subprocess.run(call, cwd=folder, capture_output=True, preexec_fn=limits).returncode == 0


def outcome(gyrator, root, name, library, model):
    """How far a model gets: checked, simulated, compared, equal."""
    base = os.path.join(root, name)
    options = ["-L", library["standard"], "--allow-external", "build"]
    for folder in library["folders"]:
        options += ["-L", os.path.normpath(os.path.join(base, folder))]
    with tempfile.TemporaryDirectory() as folder:
        if not succeeds([gyrator, "check", model, *options], folder):
            return ()
        result = os.path.join(folder, "result.csv")
        if not succeeds([gyrator, "simulate", model, *options, "--output", result], folder):
            return ("checked",)
        reference = os.path.join(base, library.get("references", ""), model + ".csv")
        if "references" not in library or not os.path.exists(reference):
            return ("checked", "simulated")
        equal = succeeds([gyrator, "compare", reference, result], folder)
        return ("checked", "simulated", "compared") + (("equal",) if equal else ())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gyrator", required=True, type=os.path.abspath)
    parser.add_argument("--root", required=True, type=os.path.abspath)
    parser.add_argument("--list", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    with open(arguments.list) as file:
        libraries = json.load(file)
    print("| library | version | models | check | simulate | agree with references |")
    print("| --- | --- | --- | --- | --- | --- |")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for name, library in libraries.items():
            tried = lambda model: outcome(arguments.gyrator, arguments.root, name, library, model)
            found = list(pool.map(tried, library["models"]))
            count = lambda stage: sum(stage in stages for stages in found)
            agree = f"{count('equal')} of {count('compared')}" if count("compared") else ""
            print(f"| {name} | {library['version']} | {len(found)} | {count('checked')} | {count('simulated')} | {agree} |", flush=True)


if __name__ == "__main__":
    main()
