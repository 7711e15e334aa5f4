#!/usr/bin/env python3
"""Lists every number in the sources that changes a path: batches, buffers, limits, lists that become tables.

Scripts/constants.json says of each which cases try it at n - 1, n and n + 1, or why it changes no answer. A number that is not in
it, an entry whose line is gone, and a case that does not exist make the exit code 1. `--open` lists the numbers without a case.
"""
import argparse
import collections
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REGISTER = os.path.join(ROOT, "Scripts", "constants.json")
MODULES = ["DAOCore", "DAOKeyValue", "DAOMemory", "DAOLMDB", "DAOSQL", "DAOSQLite", "DAOPostgres"]
NUMBER = r"(?<![\w.$])\d[\d_]*(?![\w.]*x)\b"
# A number decides where it is a constant, a default, one side of a comparison, or a limit.
PLACES = [
    r"\b(?:static|private|package|fileprivate|public)\b.*\b(?:let|var)\s+(?:\([\w, ]+\)|\w+)[^=]*(?:=|\{)\s*(.*)",
    r"\w+: (?:Int|Double|Duration|UInt32)\??\s*=\s*([^,)]+)",
    r"[\w.)\]]+\s*(?:<|>|<=|>=|==|!=)\s*(\d[\d_]*(?:\s*<<\s*\d+)?)\b",
    r"\b(?:min|max)\(([^()]*)\)",
    r"(?:prefix|limit:|next|batch\w*:|count:|rowLimit:|byteLimit:|milliseconds|usleep)\(?\s*(\d[\d_]*)\b",
]


def numbers_of(line):
    """The numbers of a line of code that decide something; 0, 1 and 2 are no thresholds."""
    code = re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))
    found = []
    for place in PLACES:
        for match in re.finditer(place, code):
            found += [text for text in re.findall(NUMBER, match[1]) if int(text.replace("_", "")) >= 3]
    return list(dict.fromkeys(found))


def sites(codecs):
    """The file and the line of every number, as they are in the sources."""
    for module in MODULES:
        for path in sorted(glob.glob(os.path.join(ROOT, "Sources", module, "**", "*.swift"), recursive=True)):
            name = os.path.relpath(path, ROOT)
            if name in codecs:
                continue
            with open(path, encoding="utf-8") as file:
                for place, line in enumerate(file, 1):
                    if not line.strip().startswith("//") and numbers_of(line):
                        yield name, place, line.strip()


def names_of_tests():
    """The ids of the suite's cases, and the names of the package's tests."""
    names = set()
    for path in glob.glob(os.path.join(ROOT, "Sources", "DAOConformance", "Cases", "*.swift")):
        with open(path, encoding="utf-8") as file:
            names.update(re.findall(r'"([A-Z]\.[\w.]+)"', file.read()))
    for path in glob.glob(os.path.join(ROOT, "Tests", "**", "*.swift"), recursive=True):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for suite in re.findall(r"(?:struct|class) (\w+)", text):
            names.update(f"{suite}.{test}" for test in re.findall(r"func (\w+)\(", text))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--open", action="store_true", help="only the numbers that no case tries on both sides")
    options = parser.parse_args()
    with open(REGISTER, encoding="utf-8") as file:
        register = json.load(file)
    known = {(entry["file"], entry["line"]): entry for entry in register["numbers"]}
    tests = names_of_tests()
    problems, used, counts = [], set(), collections.Counter()
    for name, place, line in sites(register["codecs"]):
        entry = known.get((name, line))
        if entry is None:
            problems.append(f"{name}:{place}: say in Scripts/constants.json which cases try it: {line}")
            continue
        used.add((name, line))
        kind = next(key for key in ("cases", "reason", "open") if key in entry)
        counts[kind] += 1
        if options.open and kind != "open":
            continue
        numbers = ", ".join(numbers_of(line))
        print(f"{name}:{place}: {numbers}: {', '.join(entry['cases']) if kind == 'cases' else kind + ': ' + entry[kind]}")
    for key, entry in known.items():
        if key not in used:
            problems.append(f"{key[0]}: the line is gone: {key[1]}")
        for case in entry.get("cases", []):
            if case not in tests:
                problems.append(f"{key[0]}: there is no case '{case}'")
    for name in register["codecs"]:
        if not os.path.exists(os.path.join(ROOT, name)):
            problems.append(f"{name}: the file is gone")
    print(f"{counts['cases']} numbers with cases, {counts['reason']} that change no answer, {counts['open']} open")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
