#!/usr/bin/env python3
"""Measures which lines of the library targets the conformance suite and generated scripts come by.

    Scripts/coverage.py [--seconds 30] [--skip-run]

Builds dao-conformance and dao-soak with counters in .build/coverage, runs the suite on every backend and generated
scripts with a fixed seed, and prints the share of lines for each target, and the lines that nothing came by.
Processes that a case kills write no counters: what only they do counts as dark.
"""
import argparse
import collections
import glob
import os
import platform
import shutil
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
WORK = os.path.join(ROOT, ".build", "coverage")
BIN = os.path.join(WORK, "build", "debug")
TARGETS = ["DAOCore", "DAOKeyValue", "DAOMemory", "DAOLMDB", "DAOSQL", "DAOSQLite"]
URLS = ["memory:", "sqlite:", "lmdb:"]


def tool(name):
    """The path of an LLVM tool that belongs to the compiler in use."""
    if platform.system() == "Darwin":
        return subprocess.run(["xcrun", "--find", name], check=True, capture_output=True, text=True).stdout.strip()
    beside = os.path.join(os.path.dirname(os.path.realpath(shutil.which("swiftc"))), name)
    return beside if os.path.exists(beside) else name


def run(command, environment):
    if subprocess.run(command, env=environment).returncode != 0:
        sys.exit(f"coverage: {os.path.basename(command[0])} failed; its counters say nothing")


def ranges(numbers):
    """1, 2, 3, 7 as 1-3, 7."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=30, help="how long generated scripts run; 30 by default")
    parser.add_argument("--seed", type=int, default=1, help="the first seed of the scripts; 1 by default")
    parser.add_argument("--skip-run", action="store_true", help="prints what the last run has counted")
    options = parser.parse_args()

    counters = os.path.join(WORK, "counters")
    if not options.skip_run:
        build = ["swift", "build", "--package-path", ROOT, "--scratch-path", os.path.join(WORK, "build")]
        for product in ("dao-conformance", "dao-soak"):
            subprocess.run([*build, "--enable-code-coverage", "--product", product, "--quiet"], check=True)
        shutil.rmtree(counters, ignore_errors=True)
        os.makedirs(counters)
        # Processes of one program add to the same few files.
        environment = dict(os.environ, LLVM_PROFILE_FILE=os.path.join(counters, "%4m.profraw"))
        for url in URLS:
            run([os.path.join(BIN, "dao-conformance"), "--url", url], environment)
        run([os.path.join(BIN, "dao-soak"), "--minutes", str(options.seconds / 60), "--seed", str(options.seed)], environment)
        raw = glob.glob(os.path.join(counters, "*.profraw"))
        merged = os.path.join(WORK, "all.profdata")
        subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", merged, *raw], check=True)

    export = [tool("llvm-cov"), "export", "-format=lcov", "-instr-profile", os.path.join(WORK, "all.profdata")]
    export += [os.path.join(BIN, "dao-conformance"), "-object", os.path.join(BIN, "dao-soak")]
    totals, dark, path = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(list), ""
    for line in subprocess.run(export, check=True, capture_output=True, text=True).stdout.splitlines():
        if line.startswith("SF:"):
            path = os.path.relpath(line[3:], ROOT)
        target = path.split(os.sep)[1] if path.startswith("Sources" + os.sep) else None
        if target in TARGETS and line.startswith("DA:"):
            number, count = (int(part) for part in line[3:].split(",")[:2])
            totals[target][1] += 1
            if count:
                totals[target][0] += 1
            else:
                dark[path].append(number)
    print("Lines that nothing came by:\n")
    for path, missed in sorted(dark.items()):
        print(f"{path}: {ranges(missed)}")
    print(f"\n{'':14}{'lines':>8}{'covered':>9}{'dark':>7}{'share':>8}")
    rows = [(target, *totals[target]) for target in TARGETS]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    for name, covered, count in rows:
        print(f"{name:14}{count:8}{covered:9}{count - covered:7}{100 * covered / max(count, 1):7.1f}%")


if __name__ == "__main__":
    main()
