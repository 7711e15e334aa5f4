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
    /// Declares a model of {fields}: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient public convenience init<{generics}>(
        _ entity: String, _ make: @escaping @Sendable ({types}) -> Record, {parameters}, indexes: [Index<Record>] = []
    ) {{
        let erased: [ErasedField<Record>] = [{erased}]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {{
            make({reads})
        }}
        @Sendable @inline(__always) func write(_ record: UnsafePointer<Record>, _ row: RowWriter) throws {{
            {writes}
        }}
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: {{ $1 = try read($0) }},
            decodeRows: {{ row, limit, records in
                var remaining = limit
                while remaining > 0, try row.advance() {{
                    records.append(try read(row))
                    remaining -= 1
                }}
            }}, encodeRow: {{ try write($0, $1) }},
            mergeRow: {{ stored, row, change in
                var record: Record?
                if let stored {{ record = try read(stored) }}
                try change(&record)
                guard let changed = consume record else {{ return false }}
                try withUnsafePointer(to: changed) {{ try write($0, row) }}
                return true
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

MORE = """
    /// Declares a model of more than {limit} fields: the name of the entity, the initializer, the fields and the indexes.
    ///
    /// The compiler walks over the fields while the program runs: a row takes about a third longer to read than with fewer.
    @preconcurrency @inlinable public convenience init<{generics}, each Stored: FieldValue>(
        _ entity: String, _ make: @escaping @Sendable ({types}, repeat each Stored) -> Record, {parameters},
        _ fields: repeat Field<Record, each Stored>, indexes: [Index<Record>] = []
    ) {{
        self.init(packing: entity, make, {arguments}, repeat each fields, indexes: indexes)
    }}
"""


def joined(count, separator, form):
    return separator.join(form.format(place, place + 1) for place in range(count))


def more(count):
    return MORE.format(
        limit=LIMIT, generics=joined(count, ", ", "F{1}: FieldValue"), types=joined(count, ", ", "F{1}"),
        parameters=joined(count, ", ", "_ f{1}: Field<Record, F{1}>"), arguments=joined(count, ", ", "f{1}"))


def initializer(count):
    def join(separator, form):
        return joined(count, separator, form)

    return (INITIALIZER + OTHER_MODEL).format(
        fields="1 field" if count == 1 else f"{count} fields", generics=join(", ", "F{1}: FieldValue"), types=join(", ", "F{1}"),
        parameters=join(", ", "_ f{1}: Field<Record, F{1}>"), erased=join(", ", "ErasedField(f{1})"),
        reads=join(", ", "try F{1}.read(from: row, at: {0})"),
        writes=join("\n            ", "try places.value(F{1}.self, at: {0}, of: record).write(to: row, at: {0})"))


def main():
    text = HEAD + "".join(initializer(count) for count in range(1, LIMIT + 1)).lstrip("\n") + more(LIMIT + 1) + "}\n"
    text = subprocess.run(
        ["swift", "format", "--assume-filename", PATH, "-"], input=text, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    if "--check" not in sys.argv[1:]:
        with open(PATH, "w", encoding="utf-8") as file:
            file.write(text)
    elif not os.path.exists(PATH) or open(PATH, encoding="utf-8").read() != text:
        sys.exit(f"{os.path.relpath(PATH, ROOT)} is not up to date: run Scripts/schema-arities.py")


if __name__ == "__main__":
    main()
