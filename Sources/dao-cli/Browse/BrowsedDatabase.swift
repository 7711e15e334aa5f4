import DAOCore
import DAOSearch
import DAOTransport
import Foundation

/// What the page asks of a database, in JSON.
///
/// A view is answered at once, with a tag. Asked again with that tag, it is answered when it has changed (200), or after
/// some seconds without an answer (204).
struct BrowsedDatabase: Sendable {
    private let database: any Database
    private let url: DatabaseConfiguration
    private let canWrite: Bool
    private let cursors = Cursors<PageCursor>()
    private let searches = Cursors<SearchCursor>()
    private let entities = Entities()
    /// Which file was opened; nil for a database without a file.
    private let file: FileIdentity?

    /// How long an answer waits for a change.
    private static let patience = Duration.seconds(20)
    /// The number of characters of a text in a cell, and in the view of a row.
    private static let (cellLength, textLength) = (120, 20_000)

    typealias Response = HTTPServer.Response
    private typealias Failure = Browser.Failure

    /// Creates the content of a page.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - url: Its URL as the command has it.
    ///   - canWrite: Whether the page can change rows.
    init(_ database: any Database, url: DatabaseConfiguration, canWrite: Bool) {
        (self.database, self.url, self.canWrite) = (database, url, canWrite)
        file = database.configuration.file.flatMap(FileIdentity.init)
    }

    // MARK: Views

    func description(_ words: Browser.Words) async throws -> Response {
        try await view(words) {
            // Counting may look at every row. What takes too long is left out.
            let end = ContinuousClock.now + .milliseconds(500)
            let described = try database.entities().filter { !$0.isOfTextIndex }.map { description in
                let count = ContinuousClock.now < end ? try entity(description.name).count() : nil
                return JSON.object([
                    "name": JSON.text(description.name), "rows": count.map { "\($0)" } ?? "null",
                    "fields": JSON.list(description.fields.map(\.json)),
                    "isSearchable": "\(description.textIndex != nil)",
                    "indexes": JSON.list(description.indexes.map { JSON.text(($0.isUnique ? "unique: " : "") + "\($0)") }),
                ])
            }
            return JSON.object([
                "name": JSON.text(URL(fileURLWithPath: database.configuration.path).lastPathComponent),
                "url": JSON.text("\(url)"), "engine": JSON.text(database.capabilities.engine),
                "size": JSON.text(Databases.size(of: database).map(bytes) ?? ""), "version": "\(try database.schemaVersion)",
                "canWrite": "\(canWrite)", "entities": JSON.list(described),
            ])
        }
    }

    func rows(_ words: Browser.Words) async throws -> Response {
        let limit = try words.number("limit", in: 1...500, default: 50)
        let name = try words.required("entity")
        var query = query(words)
        if let text = words["search"] {
            let (predicate, cursor) = (query.predicate, try words["after"].map(searches.cursor))
            return try await view(words) {
                let rows = try entity(name)
                let page = try rows.searchPage(SearchQuery(text), limit: limit, after: cursor, where: predicate)
                return try list(rows.entity, page.hits.map(\.value), next: page.next.map(searches.name))
            }
        }
        query.after = try words["after"].map(cursors.cursor)
        let asked = query
        return try await view(words) {
            let rows = try entity(name)
            let page = try rows.page(asked, limit: limit)
            return try list(rows.entity, page.elements, next: page.next.map(cursors.name))
        }
    }

    func related(_ words: Browser.Words) async throws -> Response {
        let limit = try words.number("limit", in: 1...500, default: 50)
        let first = try words.number("after", in: 0...Int(Int32.max), default: 0)
        let (name, key, field) = try (words.required("entity"), words.required("key"), words.required("field"))
        return try await view(words) {
            let parent = try entity(name)
            let count = try parent.relatedCount(field, of: UniqueID(key))
            let page = try parent.related(field, of: UniqueID(key), limit: limit, offset: first)
            guard let target = try parent.entity.fields.first(where: { $0.name == field })?.relation?.entity else {
                throw Failure(404, "'\(name)' has no relationship '\(field)'")
            }
            return try list(
                entity(target).entity, page, next: count > first + limit ? "\(first + limit)" : nil, count: count)
        }
    }

    func row(_ words: Browser.Words) async throws -> Response {
        let (name, key) = try (words.required("entity"), words.required("key"))
        return try await view(words) {
            let rows = try entity(name)
            guard let row = try rows.read(byPrimaryKey: UniqueID(key)) else {
                throw Failure(404, "'\(name)' has no row with the key \(key)")
            }
            let referrers = try database.entities().flatMap { other in
                other.fields.filter { $0.relation?.entity == name }.map { field in
                    JSON.object([
                        "entity": JSON.text(other.name), "field": JSON.text(field.name),
                        "where": JSON.text(condition(field, leadsTo: row)),
                    ])
                }
            }
            return JSON.object([
                "entity": JSON.text(name), "key": JSON.text(row.key.rawValue), "version": JSON.text(tag(row)),
                "fields": JSON.list(row.entity.fields.map { JSON.text($0.name) }),
                "values": JSON.list(zip(row.entity.fields, row.values).map(detail)),
                "referrers": JSON.list(referrers),
            ])
        }
    }

    func count(_ words: Browser.Words) async throws -> Response {
        let (name, query) = (try words.required("entity"), query(words))
        let text = words["search"]
        let count = try await reading {
            let rows = try entity(name)
            return try text.map { try rows.searchCount($0, where: query.predicate) } ?? rows.count(where: query.predicate)
        }
        return Response(json: JSON.object(["count": "\(count)"]))
    }

    func explain(_ words: Browser.Words) async throws -> Response {
        let (name, query) = (try words.required("entity"), query(words))
        let plan = try await reading { try entity(name).explain(query) }
        return Response(
            json: JSON.object([
                "plan": JSON.text("\(plan)"), "rows": plan.estimatedRows.map { "\($0)" } ?? "null",
                "details": JSON.list(plan.details.map(JSON.text)),
            ]))
    }

    /// A value as it is, for a download or a picture.
    func value(_ words: Browser.Words) async throws -> Response {
        let (name, key, field) = try (words.required("entity"), words.required("key"), words.required("field"))
        let (value, description) = try await reading {
            let rows = try entity(name)
            guard let row = try rows.read(byPrimaryKey: UniqueID(key)) else {
                throw Failure(404, "'\(name)' has no row with the key \(key)")
            }
            guard let position = row.entity.index(of: field) else { throw Failure(404, "'\(name)' has no field '\(field)'") }
            return (row.values[position], row.entity.fields[position])
        }
        guard case .data(let data) = value else {
            return Response(
                headers: [
                    "Content-Type": "text/plain; charset=utf-8", "Content-Disposition": "attachment; filename=\"\(field).txt\"",
                ],
                body: Data(value.exactText(description).utf8))
        }
        guard let type = data.pictureType else {
            return Response(
                headers: [
                    "Content-Type": "application/octet-stream", "Content-Disposition": "attachment; filename=\"\(field).bin\"",
                ],
                body: data)
        }
        return Response(headers: ["Content-Type": type], body: data)
    }

    // MARK: Writing

    /// Sets a field of a row, unless somebody has written the row since it was seen.
    func set(_ body: Data) async throws -> Response {
        let words = try words(of: body)
        let field = try words.required("field")
        let word = words.members["value"] == .null ? nil : try words.required("value")
        return try await change(words) { rows, row in
            guard let position = row.entity.index(of: field) else { throw Failure(404, "'\(rows.name)' has no field '\(field)'") }
            let description = row.entity.fields[position]
            guard !description.isPrimaryKey else { throw Failure(400, "a key never changes; create another row instead") }
            guard let value = word.map({ Value($0, of: description) }) ?? .null else {
                throw Failure(400, "this is no \(description.storedKind.rawValue)")
            }
            let keyField = row.entity.fields[row.entity.keyIndex].name
            try rows.persist([[keyField: row.values[row.entity.keyIndex], field: value]])
        }
    }

    /// Erases a row, unless somebody has written it since it was seen.
    func erase(_ body: Data) async throws -> Response {
        try await change(words(of: body)) { rows, row in try rows.erase(byPrimaryKey: row.key) }
    }

    /// The words of a request that changes a row.
    private struct Change {
        let members: [String: Json]

        func required(_ name: String) throws -> String {
            guard case .string(let text)? = members[name] else { throw Failure(400, "the request needs the text '\(name)'") }
            return text
        }
    }

    private func words(of body: Data) throws -> Change {
        guard canWrite else { throw Failure(403, "the page only reads; start 'dao browse' with --write to change rows") }
        guard case .object(let members) = try? Json(parsing: String(decoding: body, as: UTF8.self)) else {
            throw Failure(400, "the request is no JSON object")
        }
        return Change(members: members)
    }

    /// Changes a row, unless somebody has written it since it was seen.
    private func change(_ words: Change, _ body: @escaping @Sendable (EntityRows, EntityRow) throws -> Void) async throws
        -> Response
    {
        let (name, key, version) = try (words.required("entity"), words.required("key"), words.required("version"))
        try checkFile()
        try await database.transaction {
            let rows = try entity(name)
            guard let row = try rows.read(byPrimaryKey: UniqueID(key)) else {
                throw Failure(404, "'\(name)' has no row with the key \(key); it was erased")
            }
            guard tag(row) == version else {
                throw Failure(409, "somebody has written the row meanwhile; look at it, and repeat the change")
            }
            try body(rows, row)
        }
        return Response(json: "{}")
    }

    // MARK: Parts

    private func view(_ words: Browser.Words, _ read: @escaping @Sendable () throws -> String) async throws -> Response {
        let json =
            if let known = words["known"] {
                try await next(after: known, read)
            } else {
                try await reading(read)
            }
        guard let json else { return Response(status: 204) }
        return Response(json: json, headers: ["ETag": "\"\(tag(json))\""])
    }

    private func reading<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try checkFile()
        return try await database.snapshot(body)
    }

    /// Throws when the path does not lead to the open file any more, which can be read all the same.
    private func checkFile() throws {
        guard database.configuration.file.flatMap(FileIdentity.init) != file else { return }
        throw Failure(503, "the file of the database was moved, removed or replaced; start 'dao browse' again")
    }

    /// The next result of a closure that has another tag; nil when there is none for some time.
    private func next(after known: String, _ read: @escaping @Sendable () throws -> String) async throws -> String? {
        try await withThrowingTaskGroup(of: String?.self) { group in
            try checkFile()
            group.addTask {
                for try await json in database.observe(read) where tag(json) != known { return json }
                return nil
            }
            group.addTask {
                let end = ContinuousClock.now + Self.patience
                while ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(500))
                    try checkFile()
                }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// A short name of a value, as long as the program runs.
    private func tag(_ value: some Hashable) -> String { String(UInt(bitPattern: value.hashValue), radix: 36) }

    private func entity(_ name: String) throws -> EntityRows {
        do {
            return try entities.rows(of: name, in: database)
        } catch let error as StorageError where error.kind == .invalidQuery {
            throw Failure(404, error.line)
        }
    }

    private func query(_ words: Browser.Words) -> RowQuery {
        RowQuery(
            where: words["where"].map { TextPredicate($0) },
            orderedBy: RowQuery.Order.terms(words["order"] ?? ""))
    }

    private func list(_ entity: EntityDescription, _ rows: [EntityRow], next: String?, count: Int? = nil) throws -> String {
        let positions = entity.fields.indices.filter { entity.fields[$0].type.kind != .toMany }
        let cells = rows.map { row in
            let cells = positions.map { position in
                let (value, field) = (row.values[position], entity.fields[position])
                if value.isNull { return "null" }
                // The key of a related row is whole, because it leads there.
                let isKey = field.relation != nil
                return JSON.text(isKey ? value.text(field.type.kind) : value.cell(field.type.kind, length: Self.cellLength))
            }
            return JSON.object(["key": JSON.text(row.key.rawValue), "cells": JSON.list(cells)])
        }
        return JSON.object([
            "entity": JSON.text(entity.name), "fields": JSON.list(positions.map { JSON.text(entity.fields[$0].name) }),
            "rows": JSON.list(cells), "next": next.map(JSON.text) ?? "null", "count": count.map { "\($0)" } ?? "null",
        ])
    }

    /// A value in the view of a row.
    private func detail(_ field: FieldDescription, _ value: Value) -> String {
        if value.isNull { return "null" }
        if case .data(let data) = value {
            let hex = data.prefix(256).map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined(separator: " ")
            return JSON.object([
                "bytes": "\(data.count)", "text": JSON.text(hex + (data.count > 256 ? " …" : "")),
                "isPicture": "\(data.pictureType != nil)",
            ])
        }
        let text = value.text(field.type.kind)
        let shown = String(text.unicodeScalars.prefix(Self.textLength))
        let isCut = shown.utf8.count < text.utf8.count
        return JSON.object([
            "text": JSON.text(shown), "length": isCut ? "\(text.utf8.count)" : "null",
            "edit": isCut ? "null" : JSON.text(value.exactText(field)),
        ])
    }

    /// The condition of the rows whose relationship leads to a row.
    private func condition(_ field: FieldDescription, leadsTo row: EntityRow) -> String {
        let key = row.key.rawValue
        var literal = key
        if row.entity.keyKind.integerRange == nil {
            literal = "'"
            for scalar in key.unicodeScalars {
                switch scalar {
                case "'", "\\": literal += "\\\(scalar)"
                case "\n": literal += "\\n"
                case "\r": literal += "\\r"
                case "\t": literal += "\\t"
                default: literal.unicodeScalars.append(scalar)
                }
            }
            literal += "'"
        }
        let name = Self.keywords.contains(field.name.uppercased()) ? "#\(field.name)" : field.name
        return field.type.kind == .toMany
            ? "ANY \(name).\(row.entity.fields[row.entity.keyIndex].name) == \(literal)" : "\(name) == \(literal)"
    }

    /// Words of the grammar of predicates, which a field's name needs a sign in front of.
    private static let keywords: Set = [
        "ALL", "AND", "ANY", "BEGINSWITH", "BETWEEN", "CONTAINS", "ENDSWITH", "FALSE", "FALSEPREDICATE", "IN", "LIKE", "MATCHES",
        "NIL", "NO", "NONE", "NOT", "NULL", "OR", "SELF", "SOME", "TRUE", "TRUEPREDICATE", "YES",
    ]
}

/// What tells a file from others, whatever its path.
private struct FileIdentity: Equatable {
    private let device: Int
    private let number: Int

    /// Creates the identity of the file at a path; nil without one.
    init?(_ path: String) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let device = attributes?[.systemNumber] as? NSNumber, let number = attributes?[.systemFileNumber] as? NSNumber
        else {
            return nil
        }
        (self.device, self.number) = (device.intValue, number.intValue)
    }
}

/// The rows of entities, which are cheaper to read through the same value.
private final class Entities: Sendable {
    private let rows = Lock<[String: EntityRows]>([:])

    /// Throws `.invalidQuery` when the database does not have the entity.
    func rows(of name: String, in database: any Database) throws -> EntityRows {
        if let known = rows.withLock({ $0[name] }) {
            _ = try known.entity
            return known
        }
        let found = try database.rows(of: name)
        rows.withLock { $0[name] = found }
        return found
    }
}

/// The cursors of pages, by short names. A cursor contains values of a row, which do not belong into an address.
private final class Cursors<Cursor: Hashable & Sendable>: Sendable {
    private let state = Lock<(cursors: [String: Cursor], names: [Cursor: String], count: Int)>(([:], [:], 0))

    /// Returns the cursor of a name.
    ///
    /// - Throws: ``Failure`` when nobody knows it any more.
    func cursor(_ name: String) throws -> Cursor {
        guard let cursor = state.withLock({ $0.cursors[name] }) else {
            throw Browser.Failure(400, "the page is not known any more; begin at the first page")
        }
        return cursor
    }

    func name(of cursor: Cursor) -> String {
        state.withLock { state in
            if let name = state.names[cursor] { return name }
            if state.names.count == 10_000 { (state.names, state.cursors) = ([:], [:]) }
            state.count += 1
            let name = "\(state.count)"
            (state.names[cursor], state.cursors[name]) = (name, cursor)
            return name
        }
    }
}

extension FieldDescription {
    fileprivate var json: String {
        JSON.object([
            "name": JSON.text(name), "type": JSON.text(relation == nil ? type.description : ""),
            "kind": JSON.text(storedKind.rawValue), "isNumber": "\(storedKind.isNumeric)", "isOptional": "\(type.isOptional)",
            "isKey": "\(isPrimaryKey)", "isIndexed": "\(isIndexed)", "isUnique": "\(isUnique)",
            "isSortable": "\(type.kind.isOrdered)", "target": relation.map { JSON.text($0.entity) } ?? "null",
            "isList": "\(type.kind == .toMany)",
        ])
    }
}

extension Data {
    /// The type of a picture that a browser shows; nil for other bytes.
    fileprivate var pictureType: String? {
        if starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if starts(with: Data("GIF8".utf8)) { return "image/gif" }
        if starts(with: Data("RIFF".utf8)), dropFirst(8).starts(with: Data("WEBP".utf8)) { return "image/webp" }
        return nil
    }
}
