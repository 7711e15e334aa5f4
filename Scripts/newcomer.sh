#!/usr/bin/env bash
# What a newcomer does, from an empty directory: makes a package that depends on this one by its path, writes one Plain, generates
# its model, stores and reads on SQLite, changes the URL to LMDB, copies the rows over with `dao`, verifies both files, and begins
# storages of their own.
#
#   Scripts/newcomer.sh [options of swift build]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# A package is known by the folder of its path.
name=$(basename "$root" | tr '[:upper:]' '[:lower:]')
place=$(mktemp -d)
page=
trap '[ -z "$page" ] || kill "$page" 2>/dev/null || true; rm -rf "$place"' EXIT
cd "$place"

# The modules are those of this package's own build; with the same options, each is compiled once for both.
options=(--scratch-path "$root/.build" "$@")
log=$place/log

# Runs a command quietly, unless it fails.
quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "newcomer: '$*' failed" >&2; exit 1; }; }
# Compares what a command writes with what a newcomer expects.
expect() {
    local wanted=$1 written
    shift
    written=$("$@" 2>&1) || { echo "newcomer: '$*' failed: $written" >&2; exit 1; }
    [ "$written" = "$wanted" ] || { echo "newcomer: '$*' wrote '$written', not '$wanted'" >&2; exit 1; }
}

mkdir -p Sources/Notebook
cat >Package.swift <<END
// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Notebook",
    platforms: [.macOS(.v14)],
    dependencies: [.package(path: "$root")],
    targets: [
        .executableTarget(
            name: "Notebook",
            dependencies: [
                .product(name: "DAOCore", package: "$name"),
                .product(name: "DAOSQLite", package: "$name"),
                .product(name: "DAOLMDB", package: "$name"),
            ])
    ]
)
END
cat >Sources/Notebook/Note.swift <<'END'
import DAOCore
import Foundation

struct Note: Plain {
    let id: Int
    /// - Stored: indexed
    let date: Date
    let text: String
    /// The note that this one answers.
    let question: Reference<NoteModel>?
    var uniqueId: UniqueID { UniqueID(id) }
}
END
cat >Sources/Notebook/main.swift <<'END'
import DAOCore
import DAOLMDB
import DAOSQLite
import Foundation

let database = try DatabaseDrivers(.sqlite, .lmdb).open(CommandLine.arguments[1])
let notes = DAO(storage: try database.storage(for: NoteModel.self), translator: NoteTranslator())
for (id, text) in CommandLine.arguments.dropFirst(2).enumerated() {
    try notes.persist(Note(id: id, date: Date(), text: text, question: id > 0 ? Reference(0) : nil))
}
print(try notes.read(orderedBy: .descending(\.date)).map(\.text).joined(separator: ", "))
try database.close()
END

quietly swift package "${options[@]}" --allow-writing-to-package-directory generate-models
quietly swift package "${options[@]}" --allow-writing-to-package-directory generate-models --check
[ -f Sources/Notebook/Models/NoteModel.swift ] || { echo "newcomer: there is no NoteModel.swift" >&2; exit 1; }
# A plugin may be in a sandbox that lets it write there alone.
[ -n "$(find "$root/.build/plugins" -type d -name module-cache)" ] || { echo "newcomer: the compiler's cache is not where the plugin may write" >&2; exit 1; }
echo "newcomer: the model of Note is generated"

quietly swift build "${options[@]}" --product Notebook
programs=$root/.build/debug
expect "tea, milk" "$programs/Notebook" sqlite:notes.db milk tea
expect "tea, milk" "$programs/Notebook" sqlite:notes.db
expect "" "$programs/Notebook" lmdb:empty.mdb
echo "newcomer: stores and reads on SQLite"

quietly swift build "${options[@]}" --product dao
quietly "$programs/dao" copy sqlite:notes.db lmdb:notes.mdb
expect "tea, milk" "$programs/Notebook" lmdb:notes.mdb
expect "2 rows in 1 entity, no problem" "$programs/dao" verify sqlite:notes.db
expect "2 rows in 1 entity, no problem" "$programs/dao" verify lmdb:notes.mdb
echo "newcomer: copies to LMDB, reads there, and verifies both"

"$programs/dao" browse lmdb:notes.mdb --json >address 2>"$log" &
page=$!
python3 - <<'END' || { cat "$log" >&2; exit 1; }
import json, time, urllib.parse, urllib.request

deadline = time.monotonic() + 20
while not (line := open("address").read()) and time.monotonic() < deadline:
    time.sleep(0.05)

def ask(view, **words):
    address = json.loads(line)["address"] + "api/" + view + "?" + urllib.parse.urlencode(words)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=20) as answer:
        return [row["key"] for row in json.load(answer)["rows"]]

for keys, wanted in (
    (ask("rows", entity="note", where="text == 'tea'"), ["1"]),
    (ask("related", entity="note", key="1", field="question"), ["0"]),
):
    if keys != wanted:
        raise SystemExit(f"newcomer: the page has the rows {keys}, not {wanted}")
END
kill "$page"
wait "$page" || true
page=
echo "newcomer: the page shows a filtered slice and follows a relationship"

for storage in Shelf:key-value Engine:sql Archive:database; do
    quietly swift package "${options[@]}" --allow-writing-to-package-directory new-storage "${storage%:*}" --kind "${storage#*:}"
    grep -E '^ +\.(target|testTarget)\(' "$log" >>targets
done
awk '{ print } /^    targets: \[/ { while ((getline line < "targets") > 0) print line }' Package.swift >Package.new
mv Package.new Package.swift
quietly swift build "${options[@]}" --build-tests
echo "newcomer: new storages of each kind compile with their conformance tests"
# Or by a name that the manifest gives it.
sed -e 's/\.package(path: /.package(name: "dao", path: /' -e "s/package: \"$name\"/package: \"dao\"/g" Package.swift >Package.new
mv Package.new Package.swift
quietly swift package "${options[@]}" --allow-writing-to-package-directory new-storage Named --kind database
grep -q 'package: "dao"' "$log" || { cat "$log" >&2; echo "newcomer: the name of the dependency is not known" >&2; exit 1; }
