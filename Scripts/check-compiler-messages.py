#!/usr/bin/env python3
"""Compiles typical mistakes, and checks that the compiler reports each at its line, with a useful message, in time.

    Scripts/check-compiler-messages.py [folder of the built modules]      by default .build/debug/Modules

Tests/CompilerMessages has a mistake in every line with a comment `// expect-error: text`: an error in that line has to
contain the text. `// expect-note: text` after it stands for a note of that error, wherever the note points. An error in
any other line is a failure, and so is an expression that takes the compiler longer than a second.
"""
import os
import platform
import re
import subprocess
import sys
import time

LIMIT = 1000  # milliseconds for one expression

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
modules = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/Modules"
folder = "Tests/CompilerMessages"
files = sorted(name for name in os.listdir(folder) if name.endswith(".swift"))

expected = {}
for name in files:
    with open(os.path.join(folder, name), encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            kinds = re.findall(r"// expect-(error|note): (.*?)(?=\s*(?:// expect-|$))", line)
            if kinds:
                expected[name, number] = kinds

command = ["swiftc", "-typecheck", "-wmo", "-swift-version", "6", "-diagnostic-style", "llvm", "-I", modules]
command += ["-Xfrontend", f"-warn-long-expression-type-checking={LIMIT}"]
if platform.system() == "Darwin":
    command += ["-target", f"{platform.machine()}-apple-macosx14.0"]
begin = time.monotonic()
run = subprocess.run(command + [os.path.join(folder, name) for name in files], capture_output=True, text=True)
seconds = time.monotonic() - begin

found, failures, place = {}, [], None
for line in run.stderr.splitlines():
    message = re.match(r"(.*?):(?:(\d+):\d+:)? (error|warning|note): (.*)", line)
    if not message:
        continue
    path, number, kind, text = message.groups()
    if kind == "note":
        if place:
            found[place].append((kind, text))
    elif kind == "error":
        place = os.path.basename(path), int(number or 0)
        found.setdefault(place, []).append((kind, text))
        if place not in expected:
            failures.append(f"{path}:{number}: unexpected error: {text}")
    else:
        failures.append(f"{path}:{number}: {text}")

for (name, number), kinds in sorted(expected.items()):
    messages = found.get((name, number), [])
    for kind, text in kinds:
        if not any(kind == other and text in message for other, message in messages):
            came = "; ".join(message for other, message in messages if other == kind) or "nothing"
            failures.append(f"{folder}/{name}:{number}: expected the {kind} '{text}', and there was: {came}")

if failures:
    print("\n".join(failures), file=sys.stderr)
    sys.exit(1)
print(f"check-compiler-messages: {len(expected)} lines with mistakes are reported as expected, in {seconds:.1f} s")
