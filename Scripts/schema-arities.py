#!/usr/bin/env python3
"""Writes the initializers of Schema for one to sixteen fields and more, Sources/DAOCore/Schema/Schema+Arities.swift.

    Scripts/schema-arities.py [--check]

The compiler walks over a parameter pack while the program runs, and calls each field through tables. With the fields written
out it compiles straight code: a row is read with a quarter fewer instructions. --check fails when the file is not up to date.
"""
import os
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PATH = os.path.join(ROOT, "Sources", "DAOCore", "Schema", "Schema+Arities.swift")
LIMIT = 16

HEAD = """// Written by Scripts/schema-arities.py.

extension Schema {
"""

INITIALIZER = """
    /// Declares a model of {fields}: the name of the entity, the initializer, the fields and the indexes.{note}
    {attributes} public convenience init<{generics}>(
        _ entity: String, _ make: @escaping @Sendable ({types}) -> Record, {parameters}, indexes: [Index<Record>] = []
    ) {{
        {erased}
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {{
            {make}({reads})
        }}
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: {{ $1 = try read($0) }},
            decodeRows: {{ row, limit, expected, records in
                if expected > 0 {{ records.reserveCapacity(expected) }}
                var remaining = limit
                while remaining > 0, try row.advance() {{
                    records.append(try read(row))
                    remaining -= 1
                }}
            }},
            encodeRow: {{ record, row in
                {writes}
            }})
    }}
"""

OTHER_MODEL = """
    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<{generics}, Made: Sendable>(
        _ entity: String, _ make: @escaping @Sendable ({types}) -> Made, {parameters}, indexes: [Index<Record>] = []
    ) {{
        self.init(neverMade: entity)
    }}
"""

NOTE = """
    ///
    /// A field after the seventeenth costs more: the compiler walks over them while the program runs."""


def joined(count, separator, form):
    return separator.join(form.format(place, place + 1) for place in range(count))


def initializer(count):
    """An initializer for a number of fields; after the limit, for that number and more."""
    def join(separator, form):
        return joined(count, separator, form)

    names = {
        "fields": "1 field" if count == 1 else f"{count} fields", "note": "",
        "attributes": "@preconcurrency @_alwaysEmitIntoClient", "generics": join(", ", "F{1}: FieldValue"),
        "types": join(", ", "F{1}"), "parameters": join(", ", "_ f{1}: Field<Record, F{1}>"),
        "erased": "let erased: [ErasedField<Record>] = [" + join(", ", "ErasedField(f{1})") + "]", "make": "make",
        "reads": join(", ", "try F{1}.read(from: row, at: {0})"),
        "writes": join("\n                ", "try places.write(F{1}.self, at: {0}, of: record, to: row)")}
    if count <= LIMIT:
        return (INITIALIZER + OTHER_MODEL).format_map(names)
    # Fields before the pack are read apart from it: the optimizer crashes on a pack that is made of both.
    names["fields"] = f"more than {LIMIT} fields"
    names["note"] = NOTE
    names["attributes"] = "@preconcurrency @inlinable"
    names["generics"] += ", each Stored: FieldValue"
    names["types"] += ", repeat each Stored"
    names["parameters"] += ", _ fields: repeat Field<Record, each Stored>"
    names["erased"] = names["erased"].replace("let", "var", 1) + "\n        repeat erased.append(ErasedField(each fields))"
    names["make"] = f"var index = FieldCounter(after: {count - 1})\n            return make"
    names["reads"] += ", repeat try (each Stored).read(from: row, at: index.next())"
    names["writes"] += (
        f"\n                var index = FieldCounter(after: {count - 1})"
        "\n                repeat try places.write((each Stored).self, at: index.next(), of: record, to: row)")
    return INITIALIZER.format_map(names)


def main():
    text = HEAD + "".join(initializer(count) for count in range(1, LIMIT + 2)).lstrip("\n") + "}\n"
    text = subprocess.run(
        ["swift", "format", "--assume-filename", PATH, "-"], input=text, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    if "--check" not in sys.argv[1:]:
        with open(PATH, "w", encoding="utf-8") as file:
            file.write(text)
    elif not os.path.exists(PATH) or open(PATH, encoding="utf-8").read() != text:
        sys.exit(f"{os.path.relpath(PATH, ROOT)} is not up to date: run Scripts/schema-arities.py")


if __name__ == "__main__":
    main()
