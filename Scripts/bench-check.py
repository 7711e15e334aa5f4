#!/usr/bin/env python3
"""Compares the ratios of dao-bench with the stored ones, and fails where the library became slower.

    Scripts/bench-check.py [--record] [--program PATH] [-- OPTIONS of dao-bench]

A row fails when its ratio is more than 15% above the stored one in two of three runs; the third run is only made when
it decides. Work that shares the processors depends on how the system schedules it: with PostgreSQL's server it is 30%, beside
other threads 60%. --record stores the medians of three runs instead. The stored ratios are in Scripts/bench-ratios.json.
Ratios are to C programs in the same run, so that they can be compared between machines of one kind. Those of PostgreSQL are
measured where Scripts/with-postgres.sh has started a server.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
STORED = os.path.join(ROOT, "Scripts", "bench-ratios.json")
TOLERANCE, TOLERANCE_OF_SERVER, TOLERANCE_OF_THREADS = 1.15, 1.3, 1.6
RUNS = 3


def run(program, options):
    """The ratios of one run: row -> ratio."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "run.json")
        subprocess.run([program, *options, "--json", path], check=True, stdout=subprocess.DEVNULL)
        with open(path) as file:
            return {f"{row['pair']}: {row['workload']}": row["ratio"] for row in json.load(file)}


def is_slower(row, ratio, stored):
    """Whether a ratio is worse than a stored one by more than runs differ."""
    if "observation" in row or "beside" in row:
        return ratio > stored * TOLERANCE_OF_THREADS
    return ratio > stored * (TOLERANCE_OF_SERVER if row.startswith("PostgreSQL") else TOLERANCE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="stores the medians of three runs")
    parser.add_argument("--program", default=os.path.join(ROOT, ".build", "release", "dao-bench"))
    parser.add_argument("options", nargs="*", help="options of dao-bench")
    arguments = parser.parse_args()

    if arguments.record:
        runs = []
        for number in range(RUNS):
            print(f"run {number + 1} of {RUNS}", flush=True)
            runs.append(run(arguments.program, arguments.options))
        ratios = {row: round(statistics.median(each[row] for each in runs), 2) for row in runs[0]}
        with open(STORED, "w") as file:
            json.dump(ratios, file, indent=2)
            file.write("\n")
        print(f"stored {len(ratios)} ratios in {os.path.relpath(STORED, ROOT)}")
        return 0

    with open(STORED) as file:
        stored = json.load(file)
    seen = {}
    for number in range(RUNS):
        print(f"run {number + 1} of at most {RUNS}", flush=True)
        for row, ratio in run(arguments.program, arguments.options).items():
            seen.setdefault(row, []).append(ratio)
        slower = {row: sum(is_slower(row, ratio, stored[row]) for ratio in ratios) for row, ratios in seen.items() if row in stored}
        if number == 1 and 1 not in slower.values():
            break
    width = max(map(len, seen))
    failed = 0
    for row, ratios in seen.items():
        shown = " ".join(f"{ratio:6.2f}" for ratio in ratios)
        if row not in stored:
            verdict = "new; run with --record"
        elif slower[row] >= 2:
            verdict = "slower"
            failed += 1
        else:
            verdict = ""
        print(f"{row:{width}} {stored.get(row, float('nan')):6.2f} | {shown}  {verdict}".rstrip())
    isExpected = lambda row: "DAO_POSTGRES_URL" in os.environ or not row.startswith("PostgreSQL")
    missing = [row for row in stored if row not in seen and isExpected(row)] if not arguments.options else []
    for row in missing:
        print(f"{row}: is stored, and was not measured")
    if failed or missing:
        print(f"{failed} rows are slower in two runs, {len(missing)} are missing")
        return 1
    print(f"no row of {len(seen)} is slower in two runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
