#!/usr/bin/env python3
"""Plants single edits in the library targets, and runs the conformance suite and generated scripts on each.

    Scripts/mutants/mutants.py [--count 500] [--seed 1] [--target DAOCore …] [--build-only | --table-only]

All edits are compiled together, each behind a switch that an environment variable sets. The cases of the suite run
once with no edit on; each says which edits it comes by. Each edit is then tried on the quick cases that come by it.
Those that are left are tried on 30 seconds of generated scripts and on the slow cases, and then on the package's other
tests. Docs/Mutants.md says more.
Everything is in .build/mutants: a run that is stopped goes on where it was.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
WORK = os.path.join(ROOT, ".build", "mutants")
TREE = os.path.join(WORK, "tree")
BUILD = os.path.join(WORK, "build")
BIN = os.path.join(BUILD, "release")
# The databases of the cases: in memory, where the system has a place for that, since nothing here depends on what a sync does.
TEMPORARY = os.path.join("/dev/shm" if os.path.isdir("/dev/shm") else WORK, f"dao-mutants-{os.getpid()}")
# A line of JSON for each mutant that was tried.
RESULTS = os.path.join(WORK, "results.jsonl")
# What has killed each mutant, in the repository: a new machine tries that first.
KILLERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "killers.json")

TARGETS = ["DAOCore", "DAOKeyValue", "DAOMemory", "DAOLMDB", "DAOSQL", "DAOSQLite"]
# Sixteen times the same code, which is compiled into programs, where an edit cannot be switched on.
GENERATED = os.path.join("Sources", "DAOCore", "Schema", "Schema+Arities.swift")
PROGRAMS = ["dao-conformance", "dao-soak"]
URLS = {"memory": "memory:", "sqlite": "sqlite:", "lmdb": "lmdb:"}
# A server runs what no case of the others comes by.
SERVER = "postgres"
if "DAO_POSTGRES_URL" in os.environ:
    URLS[SERVER] = os.environ["DAO_POSTGRES_URL"] + "?pool=40"
SCRIPT_URLS = {"memory": "memory:", "sqlite": "sqlite:?durability=relaxed", "lmdb": "lmdb:?durability=relaxed"}
SCRIPT_SECONDS = 30
# A case is slow from here on, and runs after the others.
SLOW = 0.5
# The other tests of these targets.
TESTS = ["DAOCoreTests", "DAOKeyValueTests", "DAOSQLTests", "DAOSQLiteTests", "DAOOrderedStoreTests", "DAORelationshipTests",
         "DAOConformanceTests", "DAOEvolutionTests", "DAOProcessTests"]
TESTS_BUILD = os.path.join(WORK, "tests")
TEST_PROGRAM = os.path.join(TESTS_BUILD, "debug", "swift-daoPackageTests.xctest")
# These test the suite itself, or are the suite, or measure time.
OTHER_TESTS = ("MutantTests", "StubTests", "PageTests", "BackendTests", "LatencyTests")
# Suites of tests that take longer than this are tried only on edits that no case comes by, or which they have killed before.
SLOW_SUITE = 20
# Longer ones are left out; and an edit is tried on suites for so long at most.
LONGEST_SUITE = 120


def enter_environment():
    """Runs this program again with the parser of Swift, which it installs for itself."""
    home = os.path.join(ROOT, ".build", "mutants", "python")
    python = os.path.join(home, "bin", "python3")
    if os.path.normpath(sys.prefix) == os.path.normpath(home):
        return
    if not os.path.exists(os.path.join(home, "installed")):
        print("installing tree-sitter-swift into .build/mutants/python", flush=True)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "tree-sitter==0.26.*", "tree-sitter-swift==0.7.*"], check=True)
        open(os.path.join(home, "installed"), "w").close()
    os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])


def read_json(path, default):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


def write_json(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
    os.replace(path + ".new", path)


def write_if_changed(path, content):
    try:
        with open(path, "rb") as file:
            if file.read() == content:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def compiled_targets():
    """The programs and tests, and what they depend on: the folder of each."""
    command = ["swift", "package", "--package-path", ROOT, "dump-package"]
    manifest = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    targets = {target["name"]: target for target in manifest["targets"]}
    found, left = {}, [*PROGRAMS, *TESTS]
    while left:
        name = left.pop()
        if name not in found:
            target = targets[name]
            found[name] = target.get("path") or os.path.join("Tests" if target["type"] == "test" else "Sources", name)
            left += [names[0] for each in target["dependencies"] for kind, names in each.items() if kind != "product"]
    return found


def files(place):
    for folder, _, names in os.walk(os.path.join(ROOT, place)):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


# Drawing


def draw(options):
    """Returns the sources, and the drawn edits in the order of the draw."""
    from edits import Source

    sources, candidates = {}, []
    for target in TARGETS:
        for path in sorted(files(os.path.join("Sources", target))):
            if not path.endswith(".swift") or path == GENERATED:
                continue
            source = sources[path] = Source(os.path.join(ROOT, path))
            seen = collections.Counter()
            for edit in source.edits:
                edit.file, edit.target, edit.text = path, target, source.lines[edit.line - 1].strip()
                name = (edit.text, edit.old, edit.new, edit.kind)
                seen[name] += 1
                edit.name = (path, edit.text, f"{edit.old} → {edit.new}")
                edit.key = " | ".join([path, edit.text, f"{edit.kind}: {edit.old} → {edit.new}", str(seen[name])])
                if not options.target or target in options.target:
                    candidates.append(edit)
    # The order does not depend on the other candidates: after a change of the library, most of a draw is the same.
    candidates.sort(key=lambda edit: hashlib.sha256(f"{options.seed} {edit.key}".encode()).digest())
    # Some do not compile, and are replaced by those that were drawn after them.
    drawn = candidates[:options.count + options.count // 3 + 20]
    return sources, drawn


# Building


def write_tree(sources, numbered):
    """Writes the package with the edits. Only files that change are written, so that little is compiled again.

    The suite and the generator are not optimized: that takes longer than all mutants together save.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    by_file = collections.defaultdict(list)
    for number, edit in numbered:
        by_file[edit.file].append((number, edit))
    wanted, compiled = set(), compiled_targets()
    for place in compiled.values():
        for path in files(place):
            wanted.add(path)
            if path in by_file:
                content = sources[path].render(by_file[path])
            else:
                with open(os.path.join(ROOT, path), "rb") as file:
                    content = file.read()
            write_if_changed(os.path.join(TREE, path), content)
    for part in ("Sources", "Tests"):
        for folder, _, names in os.walk(os.path.join(TREE, part)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), TREE)
                if path not in wanted and not path.startswith(os.path.join("Sources", "DAOMutants")):
                    os.remove(os.path.join(TREE, path))
    for name in ("DAOMutants.c", "include/DAOMutants.h"):
        with open(os.path.join(here, "switch", name), "rb") as file:
            write_if_changed(os.path.join(TREE, "Sources", "DAOMutants", name), file.read())
    with open(os.path.join(ROOT, "Package.swift"), encoding="utf-8") as file:
        manifest = file.read()
    names = ", ".join(f'"{name}"' for name in sorted(compiled))
    mutated = ", ".join(f'"{name}"' for name in TARGETS)
    manifest += f"""
package.products = []
package.dependencies = []
package.traits = []
package.targets.removeAll {{ ![{names}].contains($0.name) }}
package.targets.append(.target(name: "DAOMutants"))
for target in package.targets where [{mutated}].contains(target.name) {{ target.dependencies.append("DAOMutants") }}
for target in package.targets where ["DAOConformance", "DAOPropertyTesting"].contains(target.name) {{
    target.swiftSettings = [.unsafeFlags(["-Onone"])]
}}
"""
    write_if_changed(os.path.join(TREE, "Package.swift"), manifest.encode())


def blamed(path, line, column):
    """Returns the edit at a place of a written file, or else those in the same line, or the one before."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    starts = [0]
    for match in re.finditer("\n", text):
        starts.append(match.end())
    # The compiler counts bytes, which are characters but for a few lines.
    at = starts[line - 1] + column - 1
    spans = []
    for match in re.finditer(r"/\*<(\d+)\*/", text):
        number = int(match.group(1))
        end = text.find(f"/*{number}>*/", match.end())
        spans.append((match.start(), end, number))
    inside = [(end - start, number) for start, end, number in spans if start <= at <= end]
    if inside:
        return [min(inside)[1]]
    next_line = starts[line] if line < len(starts) else len(text)
    touching = [number for start, end, number in spans if start < next_line and end >= starts[line - 1]]
    if touching:
        return touching
    before = [number for start, _, number in spans if start < at]
    return before[-1:] or [number for _, _, number in spans][:1]


def build(options):
    """Compiles all drawn edits that can be, and returns those, by number."""
    sources, drawn = draw(options)
    rejected = set(read_json(os.path.join(WORK, "rejected.json"), []))
    steps = [["--target", target] for target in TARGETS] + [["--product", program] for program in PROGRAMS]
    begin = time.monotonic()
    while True:
        numbered = [(number, edit) for number, edit in enumerate(drawn) if edit.key not in rejected]
        write_tree(sources, numbered)
        failed = None
        for step in steps:
            command = ["swift", "build", "-c", "release", "--package-path", TREE, "--scratch-path", BUILD, *step]
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode != 0:
                failed = run
                break
        if failed is None:
            break
        output = failed.stdout + failed.stderr
        found = set()
        for match in re.finditer(r"^(/\S+?\.swift):(\d+):(\d+): error: (.*)$", output, re.M):
            path = os.path.relpath(match.group(1), TREE)
            numbers = blamed(match.group(1), int(match.group(2)), int(match.group(3)))
            for number in numbers:
                if drawn[number].key not in rejected:
                    found.add(number)
                    with open(os.path.join(WORK, "rejected.log"), "a", encoding="utf-8") as file:
                        file.write(f"{path}:{match.group(2)}: {match.group(4)}\n    {drawn[number].key}\n")
        if not found:
            sys.exit(f"mutants: the build failed, and not because of an edit:\n{output[-4000:]}")
        print(f"{time.monotonic() - begin:.0f} s: {len(found)} edits do not compile", flush=True)
        rejected.update(drawn[number].key for number in found)
        write_json(os.path.join(WORK, "rejected.json"), sorted(rejected))
    print(f"{time.monotonic() - begin:.0f} s: built with {len(numbered)} edits", flush=True)
    return dict(numbered[:options.count])


# Running


class Run:
    """A process with a limit, and what it has printed."""

    running = set()

    def __init__(self, command, limit, stop=None, mutant=None, reached=None):
        environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
        place = tempfile.mkdtemp(dir=TEMPORARY)
        environment["TMPDIR"] = place
        if mutant is not None:
            environment["DAO_MUTANT"] = str(mutant)
        if reached:
            environment["DAO_MUTANTS_REACHED"] = reached
        self.lines, self.stopped, self.is_late = [], None, False
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, cwd=place,
                                   start_new_session=True, preexec_fn=self.restrict, text=True, errors="replace")
        Run.running.add(process)
        timer = threading.Timer(limit, self.end, (process,))
        timer.start()
        for line in process.stdout:
            self.lines.append(line.rstrip("\n"))
            if stop and stop(self.lines[-1]):
                self.stopped = self.lines[-1]
                break
        if self.stopped:
            self.kill(process)
        process.stdout.close()
        self.code = process.wait()
        timer.cancel()
        # What a case has started, and what is left of it.
        self.kill(process)
        Run.running.discard(process)
        self.seconds = time.monotonic() - begin
        shutil.rmtree(place, ignore_errors=True)

    @staticmethod
    def restrict():
        """An edit can make a loop that takes all memory or fills the disk."""
        os.nice(max(0, 10 - os.nice(0)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
        if hasattr(resource, "RLIMIT_DATA") and sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))

    def end(self, process):
        self.is_late = True
        self.kill(process)

    @staticmethod
    def kill(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def suite(url, cases, limit, case_limit, **more):
    """Runs cases of the suite until one of them fails."""
    command = [os.path.join(BIN, "dao-conformance"), "--url", url, "--verbose", "--time-limit", f"{case_limit:.0f}"]
    for case in cases:
        command += ["--case", case]
    return Run(command, limit, stop=lambda line: line.startswith(("failed  ", "hung  ", "ended  ")), **more)


def build_tests():
    """Compiles the tests with the edits. Assertions of the library are on in it."""
    begin = time.monotonic()
    command = ["swift", "build", "--build-tests", "--package-path", TREE, "--scratch-path", TESTS_BUILD]
    run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, DAO_OPTIMIZED="1"))
    if run.returncode != 0:
        sys.exit(f"mutants: the tests do not compile:\n{(run.stdout + run.stderr)[-4000:]}")
    print(f"{time.monotonic() - begin:.0f} s: built the tests", flush=True)


def tests(name, limit, **more):
    """Runs a suite of tests, such as DAOCoreTests.KeyTests."""
    pattern = "^" + re.escape(name) + "/"
    return Run([TEST_PROGRAM, "--testing-library", "swift-testing", "--filter", pattern], limit, **more)


def scripts(names, seed, **more):
    command = [os.path.join(BIN, "dao-soak"), "--minutes", str(SCRIPT_SECONDS / 60), "--seed", str(seed)]
    for name in names:
        command += ["--url", SCRIPT_URLS[name]]
    return Run(command, SCRIPT_SECONDS * 3 + 30, **more)


def reached_of(path):
    with open(path, "rb") as file:
        content = file.read()
    os.remove(path)
    return [number for number, byte in enumerate(content) if byte]


def digest(paths):
    result = hashlib.sha256()
    for path in sorted(paths):
        with open(path, "rb") as file:
            result.update(path.encode() + b"\0" + file.read() + b"\0")
    return result.hexdigest()[:16]


def case_digests():
    """The digest of the file in which each case is, by the id of the case; that of all files for ids that are put together."""
    folder = os.path.join(TREE, "Sources", "DAOConformance", "Cases")
    paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    digests = collections.defaultdict(lambda: digest(paths))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for name in re.findall(r'"([A-Z]\.[\w.]+)"', file.read()):
                digests[name] = digest([path])
    return digests


def in_tree(targets):
    for target in targets:
        for folder, _, names in os.walk(os.path.join(TREE, "Sources", target)):
            yield from (os.path.join(folder, name) for name in names)


def baseline(options, pool):
    """Runs each case by itself with no edit on: it has to pass. Returns the seconds of each, and the edits that it comes by.

    A case is not measured again while the library and the file of the case are the same.
    """
    path = os.path.join(WORK, "baseline.json")
    library, digests = digest(in_tree(TARGETS)), case_digests()
    generator = digest(in_tree(["DAOPropertyTesting"]))
    stored = read_json(path, {})
    if stored.get("library") != library:
        stored = {"library": library, "cases": {name: {} for name in URLS}, "scripts": {}}
    begin = time.monotonic()

    def measure_case(pair):
        name, case_id = pair
        reached = os.path.join(TEMPORARY, f"reached-{name}-{case_id}")
        for _ in range(2):
            run = suite(URLS[name], [case_id], 600, 300, reached=reached)
            # Ids that begin so run too.
            seconds = [int(line.split("  ")[3].split()[0]) / 1000 for line in run.lines if line.startswith("passed  ")]
            numbers = reached_of(reached)
            if run.code == 0 and seconds:
                return {"seconds": sum(seconds), "reached": numbers, "digest": digests[case_id]}
        print(f"left out, because it fails on {name} with no edit: {case_id}\n" + "\n".join(run.lines[-12:]), flush=True)
        return {"seconds": 0, "reached": [], "digest": digests[case_id]}

    def measure_scripts(name):
        reached = os.path.join(TEMPORARY, f"reached-{name}")
        run = scripts([name], options.seed, reached=reached)
        if run.code != 0:
            raise RuntimeError(f"generated scripts fail on {name} with no edit:\n" + "\n".join(run.lines))
        return {"reached": reached_of(reached), "digest": generator}

    for name, url in URLS.items():
        # A line such as "K.int (K1) on memory: integer keys come back".
        listed = Run([os.path.join(BIN, "dao-conformance"), "--url", url, "--list"], 60)
        ids = [line.split()[0] for line in listed.lines if re.match(r"[A-Z]\.[\w.]+ \(", line)]
        if not ids:
            sys.exit(f"mutants: there are no cases for {url}:\n" + "\n".join(listed.lines))
        known = stored["cases"].get(name, {})
        stored["cases"][name] = {case_id: known[case_id] for case_id in ids if known.get(case_id, {}).get("digest") == digests[case_id]}
        open_ones = [case_id for case_id in ids if case_id not in stored["cases"][name]]
        for case_id, measured in zip(open_ones, pool.map(measure_case, [(name, case_id) for case_id in open_ones])):
            stored["cases"][name][case_id] = measured
        write_json(path, stored)
        print(f"{time.monotonic() - begin:.0f} s: {len(ids)} cases on {name}, {len(open_ones)} of them measured", flush=True)
    open_ones = [name for name in SCRIPT_URLS if stored["scripts"].get(name, {}).get("digest") != generator]
    for name, measured in zip(open_ones, pool.map(measure_scripts, open_ones)):
        stored["scripts"][name] = measured
    write_json(path, stored)
    return stored


def tests_baseline(pool):
    """Runs each suite of tests by itself with no edit on. Returns the seconds of each, and the edits that it comes by."""
    path = os.path.join(WORK, "tests.json")
    everything = digest(in_tree(TARGETS)) + digest(
        os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(TREE, "Tests")) for name in names)
    stored = read_json(path, {})
    if stored.get("digest") == everything:
        return stored["suites"]
    begin = time.monotonic()
    listed = Run([TEST_PROGRAM, "--testing-library", "swift-testing", "--list-tests"], 60)
    names = {line.split("/")[0] for line in listed.lines if "/" in line}
    names = sorted(name for name in names if name.split(".")[0] in TESTS and not name.endswith(OTHER_TESTS))

    def measure(name):
        reached = os.path.join(TEMPORARY, f"reached-{name}")
        for _ in range(2):
            run = tests(name, 2 * LONGEST_SUITE, reached=reached)
            numbers = reached_of(reached)
            if run.code == 0:
                return {"seconds": round(run.seconds, 2), "reached": numbers}
            if run.is_late:
                break
        print(f"left out, because it fails or takes long with no edit: {name}", flush=True)
        return {"seconds": 0, "reached": []}

    suites = dict(zip(names, pool.map(measure, names)))
    write_json(path, {"digest": everything, "suites": suites})
    print(f"{time.monotonic() - begin:.0f} s: {len(suites)} suites of tests", flush=True)
    return suites


def try_tests(number, suites, passed, killer, is_reached):
    """Returns how a mutant ends on the suites of tests, as try_mutant does; None when it passes them."""
    begin = time.monotonic()
    chosen = sorted((suite["seconds"], name) for name, suite in suites.items() if number in suite["reached"])
    chosen.sort(key=lambda pair: killer != f"tests {pair[1]}")
    for seconds, name in chosen:
        is_slow = seconds > SLOW_SUITE and is_reached and killer != f"tests {name}"
        if f"tests {name}" in passed or is_slow or time.monotonic() - begin > LONGEST_SUITE:
            continue
        for _ in range(2):
            # A test that fails only beside others, on a busy machine, is no proof.
            run = tests(name, 3 * seconds + 20, mutant=number)
            if run.code == 0:
                passed.add(f"tests {name}")
                break
        else:
            return {"status": "tests", "by": f"tests {'time' if run.is_late else 'failed'} {name}",
                    "seconds": round(time.monotonic() - begin, 1), "passed": []}
    return None


class Known:
    """The cases and scripts that come by each edit."""

    def __init__(self, stored):
        self.cases = collections.defaultdict(list)
        for name in URLS:
            for case_id, case in stored["cases"][name].items():
                for number in case["reached"]:
                    self.cases[number].append((case["seconds"], name, case_id, f"{name} {case_id} {case['digest'][:6]}"))
        for number, cases in self.cases.items():
            self.cases[number] = [case for case in cases if case[1] != SERVER] or cases
        self.scripts = collections.defaultdict(list)
        for name, each in stored["scripts"].items():
            for number in each["reached"]:
                self.scripts[number].append((name, f"{name} scripts {each['digest'][:6]}"))

    def names(self, number):
        """What an edit is tried on; a changed case has another name."""
        return {case[-1] for case in self.cases[number]} | {script[-1] for script in self.scripts[number]}


def try_mutant(number, known, options, passed, killer, is_quick):
    """Returns how a mutant ends, by what, the seconds it took, and what it has passed.

    - passed: what it passed before, and is not tried on again.
    - killer: the backend and case that killed it on another machine, which is tried first, or None.
    - is_quick: tries the quick cases only; a mutant that has more to pass is "begun".
    """
    begin = time.monotonic()
    passed = set(passed)

    def ending(status, by=""):
        # What was passed is of use until the mutant is killed.
        kept = sorted(passed) if status in ("begun", "survived") else []
        return {"status": status, "by": by, "seconds": round(time.monotonic() - begin, 1), "passed": kept}

    left = [case for case in sorted(known.cases[number]) if case[-1] not in passed]
    first = [case for case in left if killer == f"{case[1]} {case[2]}"]
    left = [case for case in left if case not in first]
    units = []
    for name in URLS:
        for is_slow in (False, True):
            part = [case for case in left if case[1] == name and (case[0] >= SLOW) == is_slow]
            if part and not (is_slow and is_quick):
                units.append((is_slow, sum(case[0] for case in part), name, part))
    script_names = [(name, label) for name, label in known.scripts[number] if label not in passed]

    def try_scripts():
        run = scripts([name for name, _ in script_names], options.seed, mutant=number)
        passed.update(label for _, label in script_names)
        return None if run.code == 0 else ending("scripts", "time" if run.is_late else " ".join(name for name, _ in script_names))

    units.sort()
    if script_names and not is_quick:
        # After the quick cases, before the slow ones.
        at = next((index for index, unit in enumerate(units) if unit[0]), len(units))
        units.insert(at, None)
    for case in first:
        units.insert(0, (False, case[0], case[1], [case]))
    for unit in units:
        if unit is None:
            if killed := try_scripts():
                return killed
            continue
        _, total, name, part = unit
        # A limit for each case ends those that hang; the seconds of a machine with other work to do vary.
        case_limit = 3 * part[-1][0] + 10
        cases = [case[2] for case in part]
        while cases:
            run = suite(URLS[name], cases, 3 * total + 3 * case_limit, case_limit, mutant=number)
            if run.stopped is None and run.code == 0:
                break
            done = {line.split("  ")[2] for line in run.lines if line.startswith("passed  ")}
            if run.stopped is None:
                # The process crashed, or none of its cases came to an end.
                rest = [case_id for case_id in cases if case_id not in done]
                if not run.is_late or not done:
                    return ending("suite", f"{name} {'time' if run.is_late else 'crash'} {' '.join(rest[:2])}")
                cases = rest
                continue
            # A case that fails only beside others, on a busy machine, is no proof.
            case_id = run.stopped.split("  ")[2]
            again = suite(URLS[name], [case_id], 4 * case_limit, 2 * case_limit, mutant=number)
            if again.stopped is not None or again.code != 0:
                return ending("suite", f"{name} {run.stopped.split('  ')[0]} {case_id}")
            cases = [other for other in cases if other != case_id and other not in done]
        passed.update(case[-1] for case in part)
    if is_quick and known.names(number) - passed:
        return ending("begun")
    if not known.names(number):
        return ending("not reached")
    return ending("survived", "" if known.cases[number] else "only scripts come by it")


def read_results():
    """The last result of each mutant."""
    results = {}
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as file:
            for line in file:
                result = json.loads(line)
                results[result["key"]] = result
    return results


def write_killers():
    """Adds to the killers those of this machine's results. "sqlite failed Q.sum" is said as "sqlite Q.sum"."""
    killers = read_json(KILLERS, {})
    for key, result in read_results().items():
        words = result["by"].split()
        if result["status"] in ("suite", "tests") and len(words) > 2:
            killers[key] = f"{words[0]} {words[2]}"
        else:
            killers.pop(key, None)
    write_json(KILLERS, dict(sorted(killers.items())))


def run_tests(options, mutants):
    """Tries what the suite and the scripts have not killed on the package's other tests."""
    results, killers, equivalent = read_results(), read_json(KILLERS, {}), read_equivalent()
    left = [(number, edit) for number, edit in mutants.items() if edit.name not in equivalent
            and results.get(edit.key, {}).get("status") in ("survived", "begun", "not reached")
            and (not options.edit or any(text in edit.key for text in options.edit))]
    if not left:
        return
    build_tests()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(RESULTS, "a", encoding="utf-8") as file:
        suites = tests_baseline(pool)
        print(f"other tests: {len(left)} mutants are left", flush=True)
        lock, count = threading.Lock(), 0

        def work(pair):
            nonlocal count
            number, edit = pair
            before = results[edit.key]
            passed = set(before["passed"])
            result = try_tests(
                number, suites, passed, killers.get(edit.key), before["status"] != "not reached") or dict(before, passed=sorted(passed))
            result.update(key=edit.key, number=number, source=before["source"])
            with lock:
                count += 1
                file.write(json.dumps(result, ensure_ascii=False) + "\n")
                file.flush()
                print(f"{count}/{len(left)} {result['status']:11} {result['seconds']:6.1f} s  {edit.file}:{edit.line} "
                      f"{edit.kind}: {edit.old[:60]} → {edit.new[:60]}  ({result['by']})", flush=True)

        list(pool.map(work, left))


def run_mutants(options, mutants):
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        known = Known(baseline(options, pool))
        sources = {path: digest([os.path.join(ROOT, path)]) for path in {edit.file for edit in mutants.values()}}
        lock, equivalent, killers = threading.Lock(), read_equivalent(), read_json(KILLERS, {})
        for is_quick in (True, False):
            results = read_results()

            def before(edit):
                """The result of an edit, unless its file has changed since."""
                result = results.get(edit.key, {})
                return result if result.get("source") == sources[edit.file] else {}

            def is_open(number, edit):
                result = before(edit)
                if result.get("status") in ("suite", "scripts", "tests"):
                    return False
                # What was not killed is tried on what is new.
                return not result or bool(known.names(number) - set(result["passed"]))

            chosen = [pair for pair in mutants.items() if pair[1].name not in equivalent
                      and (not options.edit or any(text in pair[1].key for text in options.edit))]
            open_ones = [pair for pair in chosen if is_open(*pair)]
            print(f"{'quick cases' if is_quick else 'scripts and slow cases'}: {len(open_ones)} of {len(chosen)} mutants are left",
                  flush=True)
            count = 0
            with open(RESULTS, "a", encoding="utf-8") as file:

                def work(pair):
                    nonlocal count
                    number, edit = pair
                    result = try_mutant(number, known, options, before(edit).get("passed", []), killers.get(edit.key), is_quick)
                    result.update(key=edit.key, number=number, source=sources[edit.file])
                    with lock:
                        count += 1
                        file.write(json.dumps(result, ensure_ascii=False) + "\n")
                        file.flush()
                        print(f"{count}/{len(open_ones)} {result['status']:11} {result['seconds']:6.1f} s  {edit.file}:{edit.line} "
                              f"{edit.kind}: {edit.old[:60]} → {edit.new[:60]}  ({result['by']})", flush=True)

                list(pool.map(work, open_ones))


# Reporting


def read_equivalent():
    """The names of the edits that nothing can notice."""
    entries = read_json(os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent.json"), [])
    return {(entry["file"], entry["line"], entry["edit"]) for entry in entries}


def table(mutants):
    """Prints the results that there are."""
    results = read_results()
    equivalent = read_equivalent()
    columns = ["suite", "scripts", "tests", "survived", "begun", "not reached", "equivalent"]
    counts = collections.defaultdict(collections.Counter)
    left = []
    for number, edit in mutants.items():
        result = results.get(edit.key)
        if edit.name in equivalent:
            status = "equivalent"
        elif result is None:
            continue
        else:
            status = result["status"]
            if status in ("survived", "begun", "not reached"):
                left.append((edit, result))
        for group in (edit.target, edit.kind, "all"):
            counts[group][status] += 1
    print(f"\n{'':14}" + "".join(f"{name:>13}" for name in ["mutants", *columns, "killed"]))
    kinds = sorted({edit.kind for edit in mutants.values()})
    for group in [*TARGETS, None, *kinds, None, "all"]:
        if group is None:
            print()
        elif count := sum(counts[group].values()):
            killed = sum(counts[group][name] for name in ("suite", "scripts", "tests"))
            valid = count - counts[group]["equivalent"]
            print(f"{group:14}{count:13}" + "".join(f"{counts[group][name]:13}" for name in columns)
                  + f"{f'{100 * killed / valid:.1f}%' if valid else '-':>13}")
    if left:
        print("\nNot killed:")
    for edit, result in sorted(left, key=lambda pair: (pair[0].file, pair[0].line)):
        why = {"survived": "", "begun": "  (by quick cases)", "not reached": "  (no case runs it)"}[result["status"]]
        if result["by"]:
            why = f"  ({result['by']})"
        print(f"\n{edit.file}:{edit.line}  {edit.kind}{why}\n    in  {edit.text}\n    -   {edit.old}\n    +   {edit.new}")
    total = counts["all"]
    valid = sum(total.values()) - total["equivalent"]
    return valid and sum(total[name] for name in ("suite", "scripts", "tests")) / valid


def stop(*_):
    """Ends at once, with the processes that are running: their results are missing, and come the next time."""
    for process in list(Run.running):
        Run.kill(process)
    shutil.rmtree(TEMPORARY, ignore_errors=True)
    write_killers()
    os._exit(130)


def main():
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="how many edits; 500 by default")
    parser.add_argument("--seed", type=int, default=1, help="what the draw begins with; 1 by default")
    parser.add_argument("--target", action="append", choices=TARGETS, help="a library target; may be repeated; all by default")
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants run at the same time; 2 by default")
    parser.add_argument("--edit", action="append", help="a part of what the results call an edit, such as a file's name; may be repeated")
    parser.add_argument("--build-only", action="store_true", help="stops when everything is compiled")
    parser.add_argument("--table-only", action="store_true", help="prints the results that there are")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    enter_environment()
    if options.table_only:
        _, drawn = draw(options)
        rejected = set(read_json(os.path.join(WORK, "rejected.json"), []))
        table(dict([pair for pair in enumerate(drawn) if pair[1].key not in rejected][:options.count]))
        return
    mutants = build(options)
    if not options.build_only:
        os.makedirs(TEMPORARY)
        try:
            run_mutants(options, mutants)
            run_tests(options, mutants)
        finally:
            shutil.rmtree(TEMPORARY, ignore_errors=True)
        write_killers()
        table(mutants)


if __name__ == "__main__":
    main()
