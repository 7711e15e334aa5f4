#!/usr/bin/env python3
"""Writes the forms with two and three totals, and four, of what DAO offers for any number, Sources/DAOCore/DAO/DAO+TotalsArities.swift.

    Scripts/totals-arities.py [--check]

With a parameter pack, the compiler does not find the types of a total whose closure compares a field that can be nil, or of several
closures, in `totals(.count, .count { $0.due < date })`; with each total written out it does, in a fraction of a second. The forms are
made of those with a pack, which are taken where no form with each total fits. --check fails when the file is not up to date.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FOLDER = os.path.join(ROOT, "Sources", "DAOCore", "DAO")
SOURCES = ["DAO+Groups.swift", "DAO+RelatedTotals.swift", "DAO+Async.swift"]
PATH = os.path.join(FOLDER, "DAO+TotalsArities.swift")
HEAD = "// Written by Scripts/totals-arities.py.\n\nextension DAO {\n"
FUNCTION = re.compile(r"    /// (?P<summary>[^\n]*)\n(?:    ///[^\n]*\n)*(?:    @_disfavoredOverload\n)?(?P<code>    public [^\n]*func [^{]*\{\n.*?\n    \}\n)", re.S)
NAMES = ["second", "third", "fourth"]


def forms(code):
    """The forms of a function with two and more totals."""
    for count in range(1, len(NAMES) + ("func totals" in code)):
        names = [f"{name}Total" for name in NAMES[:count]]
        types = [name[0].upper() + name[1:] for name in names]
        form = code.replace("each Other>(", ", ".join(f"{type}: OrderedFieldValue" for type in types) + ">(")
        form = re.sub(
            r"_ others: repeat GroupTotal<(.*?), each Other>", lambda match: ", ".join(f"_ {n}: GroupTotal<{match[1]}, {t}>" for n, t in zip(names, types)), form)
        yield form.replace("repeat each Other", ", ".join(types)).replace("repeat each others", ", ".join(names))


def main():
    text = HEAD
    for source in SOURCES:
        with open(os.path.join(FOLDER, source)) as file:
            for match in FUNCTION.finditer(file.read()):
                code = match["code"]
                if "_ others: repeat GroupTotal" not in code or "Further" in code: continue
                for form in forms(code):
                    assert "each" not in form, form
                    text += f"\n    /// {match['summary']}\n    @_documentation(visibility: private)\n{form}"
    text += "}\n"
    text = subprocess.run(["swift", "format", "--assume-filename", PATH], input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    if "--check" in sys.argv[1:]:
        with open(PATH) as file:
            if file.read() != text: sys.exit(f"{os.path.relpath(PATH, ROOT)} is not up to date; run Scripts/totals-arities.py")
    else:
        with open(PATH, "w") as file: file.write(text)


main()
