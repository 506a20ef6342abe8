#!/usr/bin/env python3
"""Which models of other people's libraries run: makes the table of docs/libraries-that-run.md.

    libraries.py --gyrator target/release/gyrator --root FOLDER --list LIST.json --rows rows.jsonl [--jobs N] > table.md

FOLDER holds one checkout a library. LIST.json says what is tried: {"OpenIPSL": {"version": "3.1.0", "folders": ["."],
"standard": "/path/to/Modelica 4.1.0", "references": "Resources/…", "models": ["OpenIPSL.Examples.…"]}}; `folders` are loaded with -L,
below the checkout. `references` is a folder of result files `Model.Name.csv`, where a library has some: each is compared with
`gyrator compare`. Every model has 20 CPU seconds and 6 GB. What became of each model is a line of the file of rows; models that
have one are not tried again, so that an interrupted call goes on.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

CPU_SECONDS, MEMORY = 20, 6 << 30
STAGES = ("checked", "simulated", "compared", "equal")


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def succeeds(call, folder):
    return subprocess.run(call, cwd=folder, capture_output=True, preexec_fn=limits).returncode == 0


def stages_reached(gyrator, root, name, library, model):
    base = os.path.join(root, name)
    options = ["-L", library["standard"], "--allow-external", "build"]
    for folder in library["folders"]:
        options += ["-L", os.path.normpath(os.path.join(base, folder))]
    with tempfile.TemporaryDirectory() as folder:
        if not succeeds([gyrator, "check", model, *options], folder):
            return []
        result = os.path.join(folder, "result.csv")
        if not succeeds([gyrator, "simulate", model, *options, "--output", result], folder):
            return ["checked"]
        reference = os.path.join(base, library.get("references", ""), model + ".csv")
        if "references" not in library or not os.path.exists(reference):
            return ["checked", "simulated"]
        equal = succeeds([gyrator, "compare", reference, result], folder)
        return ["checked", "simulated", "compared"] + (["equal"] if equal else [])


def try_models(arguments, libraries, rows):
    """Adds a row for each model that has none."""
    missing = [(name, model) for name, library in libraries.items() for model in library["models"] if (name, model) not in rows]
    with open(arguments.rows, "a") as file, ThreadPoolExecutor(arguments.jobs) as pool:
        tried = pool.map(lambda row: stages_reached(arguments.gyrator, arguments.root, row[0], libraries[row[0]], row[1]), missing)
        for (name, model), stages in zip(missing, tried):
            rows[name, model] = stages
            print(json.dumps({"library": name, "model": model, "stages": stages}), file=file, flush=True)


def table(libraries, rows):
    print("| library | version | models | check | simulate | agree with references |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, library in libraries.items():
        found = [rows[name, model] for model in library["models"]]
        checked, simulated, compared, equal = (sum(stage in stages for stages in found) for stage in STAGES)
        agree = f"{equal} of {compared}" if compared else ""
        print(f"| {name} | {library['version']} | {len(found)} | {checked} | {simulated} | {agree} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gyrator", required=True, type=os.path.abspath)
    parser.add_argument("--root", required=True, type=os.path.abspath)
    parser.add_argument("--list", required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    with open(arguments.list) as file:
        libraries = json.load(file)
    rows = {}
    if os.path.exists(arguments.rows):
        with open(arguments.rows) as file:
            rows = {(row["library"], row["model"]): row["stages"] for row in map(json.loads, file)}
    try_models(arguments, libraries, rows)
    table(libraries, rows)


if __name__ == "__main__":
    main()
