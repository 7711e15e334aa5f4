#!/usr/bin/env python3
"""Measures which lines of the library targets the conformance suite and generated scripts come by.

    Scripts/coverage.py [--seconds 30] [--skip-run]

Builds everything with counters in .build/coverage, runs the suite on every backend and generated scripts with a fixed seed,
and then the other tests. Prints the share of lines for each target; how many of the rest the other tests come by; and the
lines that nothing came by, with the reason that Scripts/coverage-reasons.json has for them. Processes that are killed write no
counters: what only they do counts as dark.
"""
import argparse
import collections
import contextlib
import glob
import json
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
# Tests that run the suite on hundreds of databases, measure time, or need a server.
SLOW = "MutantTests|StubTests|PageTests|LatencyTests|DAOPostgresTests|BrowseTests|CompilerMessages"


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

    environment = dict(os.environ)
    if not options.skip_run:
        build = ["swift", "build", "--package-path", ROOT, "--scratch-path", os.path.join(WORK, "build")]
        subprocess.run([*build, "--enable-code-coverage", "--build-tests", "--quiet"], check=True)
        with counting("suite", environment):
            for url in URLS:
                run([os.path.join(BIN, "dao-conformance"), "--url", url], environment)
            minutes = str(options.seconds / 60)
            run([os.path.join(BIN, "dao-soak"), "--minutes", minutes, "--seed", str(options.seed)], environment)
        with counting("tests", environment):
            tests = ["swift", "test", "--package-path", ROOT, "--scratch-path", os.path.join(WORK, "build"), "--skip-build"]
            # Counting makes them slow: promises in milliseconds do not hold.
            subprocess.run([*tests, "--skip", SLOW], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    suite = lines("suite", "dao-conformance", "dao-soak")
    tests = lines("tests", "swift-daoPackageTests.xctest")
    reasons = read_reasons()
    rows, dark = collections.defaultdict(lambda: [0] * 5), collections.defaultdict(lambda: collections.defaultdict(list))
    for path, counts in sorted(suite.items()):
        target = path.split(os.sep)[1]
        with open(os.path.join(ROOT, path)) as file:
            texts = file.read().split("\n")
        reason, last = None, None
        for number, count in sorted(counts.items()):
            row = rows[target]
            row[0] += 1
            if count:
                row[1] += 1
            elif tests.get(path, {}).get(number):
                row[2] += 1
            else:
                # A reason is that of a line and of the dark ones that follow it.
                reason = reasons.get((path, texts[number - 1].strip()), reason if last == number - 1 else None)
                last = number
                row[3 if reason else 4] += 1
                dark[reason or "without a reason"][path].append(number)
    for reason, paths in sorted(dark.items()):
        print(f"{reason}:")
        for path, missed in sorted(paths.items()):
            print(f"    {path}: {ranges(missed)}")
    print(f"\n{'':14}{'lines':>8}{'suite':>8}{'other tests':>13}{'with a reason':>15}{'none':>6}{'suite':>8}")
    rows["all"] = [sum(column) for column in zip(*rows.values())]
    for name in [*TARGETS, "all"]:
        count, covered, elsewhere, explained, left = rows[name]
        share = 100 * covered / max(count, 1)
        print(f"{name:14}{count:8}{covered:8}{elsewhere:13}{explained:15}{left:6}{share:7.1f}%")


@contextlib.contextmanager
def counting(name, environment):
    """Counts in the processes that begin in its body with the environment."""
    counters = os.path.join(WORK, name)
    shutil.rmtree(counters, ignore_errors=True)
    os.makedirs(counters)
    # Processes of one program add to the same few files.
    environment["LLVM_PROFILE_FILE"] = os.path.join(counters, "%4m.profraw")
    yield
    raw = glob.glob(os.path.join(counters, "*.profraw"))
    merge = [tool("llvm-profdata"), "merge", "-sparse", "--failure-mode=all", "-o", os.path.join(WORK, f"{name}.profdata")]
    subprocess.run([*merge, *raw], check=True)


def lines(name, *programs):
    """How often programs came by the lines of the libraries: path -> number -> count."""
    export = [tool("llvm-cov"), "export", "-format=lcov", "-instr-profile", os.path.join(WORK, f"{name}.profdata")]
    for number, program in enumerate(programs):
        export += ([] if number == 0 else ["-object"]) + [os.path.join(BIN, program)]
    found, path = collections.defaultdict(dict), ""
    for line in subprocess.run(export, check=True, capture_output=True, text=True).stdout.splitlines():
        if line.startswith("SF:"):
            path = os.path.relpath(line[3:], ROOT)
        elif line.startswith("DA:") and path.startswith("Sources" + os.sep) and path.split(os.sep)[1] in TARGETS:
            number, count = (int(part) for part in line[3:].split(",")[:2])
            found[path][number] = max(count, found[path].get(number, 0))
    return found


def read_reasons():
    """Why lines stay dark: path and text of the first line -> reason."""
    with open(os.path.join(ROOT, "Scripts", "coverage-reasons.json")) as file:
        return {(entry["file"], line): entry["reason"] for entry in json.load(file) for line in entry["lines"]}


if __name__ == "__main__":
    main()
