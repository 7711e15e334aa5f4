#!/usr/bin/env python3
"""Writes Sources/DAOSearch/WordBreaks+Table.swift, the properties of characters that searching looks at, from the files of Unicode.

    Scripts/word-breaks.py [--check]       the files are those of Debian's package unicode-data, in /usr/share/unicode

--check compares instead, and fails where the table is another one. Without the files it says so and compares nothing. The version is
part of what a search means (contract S1): every machine has the same table, whatever its system's Unicode is."""

import pathlib
import re
import sys

UNICODE = pathlib.Path("/usr/share/unicode")
TARGET = pathlib.Path(__file__).resolve().parents[1] / "Sources/DAOSearch/WordBreaks+Table.swift"

# The numbers of the classes in `WordBreaks.Class`. Hebrew_Letter and ALetter come last, for a comparison.
CLASSES = ["Other", "CR", "LF", "Newline", "Extend", "ZWJ", "Format", "Katakana", "Single_Quote", "Double_Quote", "MidNumLet", "MidLetter",
           "MidNum", "Numeric", "ExtendNumLet", "Regional_Indicator", "WSegSpace", "Hebrew_Letter", "ALetter"]
PICTOGRAPH, SINGLE, WORD, BASE, MARK = 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 9
SIZE = 0x110000


def properties(name):
    """The ranges of a file, as (first, last, property)."""
    for line in (UNICODE / name).read_text(encoding="utf-8").splitlines():
        match = re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\w+)", line)
        if match:
            yield int(match[1], 16), int(match[2] or match[1], 16), match[3]


def version():
    return re.match(r"# WordBreakProperty-([\d.]+)\.txt", (UNICODE / "auxiliary/WordBreakProperty.txt").read_text())[1]


def table():
    """The boundaries of ranges of equal properties: the first character, shifted by ten bits, and the properties."""
    values = [0] * SIZE
    categories = [""] * SIZE
    for first, last, name in properties("extracted/DerivedGeneralCategory.txt"):
        categories[first : last + 1] = [name] * (last + 1 - first)
    scripts = [""] * SIZE
    for first, last, name in properties("Scripts.txt"):
        scripts[first : last + 1] = [name] * (last + 1 - first)
    breaks = {}
    for first, last, name in properties("auxiliary/WordBreakProperty.txt"):
        for code in range(first, last + 1):
            values[code] |= CLASSES.index(name)
            breaks[code] = name
    for first, last, name in properties("emoji/emoji-data.txt"):
        if name == "Extended_Pictographic":
            for code in range(first, last + 1):
                values[code] |= PICTOGRAPH
    complex_context = set()
    for first, last, name in properties("LineBreak.txt"):
        if name == "SA":
            complex_context.update(range(first, last + 1))
    for code in range(SIZE):
        is_word = categories[code][:1] in ("L", "N")
        if is_word:
            values[code] |= WORD
        without_spaces = scripts[code] in ("Han", "Hiragana", "Katakana", "Hangul") or code in complex_context
        if is_word and (without_spaces or breaks.get(code) == "Katakana"):
            values[code] |= SINGLE
        if is_word and scripts[code] in ("Latin", "Greek", "Cyrillic", "Hebrew", "Arabic"):
            values[code] |= BASE
        if categories[code] in ("Mn", "Me"):
            values[code] |= MARK
    return [code << 10 | values[code] for code in range(SIZE) if code == 0 or values[code] != values[code - 1]]


def source():
    numbers = table()
    lines = [", ".join(f"0x{number:X}" for number in numbers[start : start + 12]) for start in range(0, len(numbers), 12)]
    return f"""// swift-format-ignore-file
// Written by Scripts/word-breaks.py from Unicode {version()}. Do not edit.

extension WordBreaks {{
    /// The version of Unicode.
    static let version = "{version()}"

    /// The first character of each range with the same properties, shifted by ten bits, and the properties.
    static let table: [UInt32] = [
        {(","+chr(10)+"        ").join(lines)},
    ]
}}
"""


if not (UNICODE / "auxiliary/WordBreakProperty.txt").exists():
    print("word-breaks: not compared, for the package unicode-data is not installed")
    sys.exit(0 if "--check" in sys.argv else 1)
if "--check" in sys.argv:
    if TARGET.read_text(encoding="utf-8") != source():
        sys.exit("word-breaks: the table is not that of the files; run Scripts/word-breaks.py")
else:
    TARGET.write_text(source(), encoding="utf-8")
    print(f"word-breaks: {len(table())} ranges of Unicode {version()}")
