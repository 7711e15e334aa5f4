import Foundation
import Testing

@testable import DAOModelGeneration

/// What is generated for values as people write them. Every generated file has passed the compiler.
@Suite(.timeLimit(.minutes(30))) struct PlainTests {
    @Test func modelsAreWrittenAsAPersonWould() throws {
        let target = Target()
        try target.write(
            """
            import DAOCore
            import Foundation

            enum Status: String, FieldValue { case draft, sent }

            struct Address: Codable, FieldValue { var city: String }

            /// A message.
            ///
            /// - Stored: Index(orderedBy: .ascending(\\.status), .descending(\\.date)), dropped("stars")
            struct Message: Plain {
                let id: Int
                /// When it was sent.
                ///
                /// - Stored: indexed, renamed(from: "day"),
                ///   renamed(from: "time")
                let date: Date
                let status: Status?
                var tags: [String] = []
                var home: Address
                /// - Stored: linked
                var writer: Writer?
                /// - Stored: cascade
                var comments: [Comment]
                /// - Stored: owned
                var replies: [Comment]?
                let folder: Reference<SpaceFolderModel>?
                let version = 3
                var title: String { "\\(id)" }
                var uniqueId: UniqueID { UniqueID(id) }
            }

            struct Writer: Plain, Model {
                var id: Int
                static let schema = Schema("writer", Self.init, Field("id", \\.id, .primaryKey))
            }

            public struct Comment: Plain {
                public let id: UUID
                let `default`: String, `in`: Bool
                public var uniqueId: UniqueID { UniqueID(id) }
                public init(_ id: UUID, default: String, in: Bool) throws { (self.id, self.default, self.in) = (id, `default`, `in`) }
            }

            enum Space {
                /// - Stored: named("folders")
                struct Folder: Plain {
                    typealias Name = String
                    enum Kind: Int, FieldValue { case open }
                    /// - Stored: primaryKey, named("folder_name")
                    let name: Name
                    let kind: Kind
                    let parent: Swift.Optional<Int>
                    var uniqueId: UniqueID { .init(name) }
                }
            }
            """, to: "Message.swift")
        // Neither what the models are for nor an error elsewhere keeps them from being made.
        try target.write("let messages: DAO<MessageTranslator>\nlet mistake: Int = \"text\"\n", to: "main.swift")
        let outcome = try target.generate()
        #expect(
            outcome.lines == [
                "Models/CommentModel.swift: written", "Models/MessageModel.swift: written",
                "Models/SpaceFolderModel.swift: written",
            ])
        #expect(outcome.isClean)
        #expect(
            target.code("MessageModel.swift") == """
                import DAOCore
                import Foundation

                /// The stored record of ``Message``.
                struct MessageModel: Model {
                    var id: Int
                    var date: Date
                    var status: Status?
                    var tags: [String]
                    var home: Address
                    var writer: Writer?
                    var comments: [CommentModel]
                    var replies: [CommentModel]?
                    var folder: Reference<SpaceFolderModel>?

                    static let schema = Schema(
                        "message", Self.init,
                        Field("id", \\.id, .primaryKey),
                        Field("date", \\.date, .indexed, .renamed(from: "day"), .renamed(from: "time")),
                        Field("status", \\.status),
                        Field("tags", \\.tags),
                        Field("home", \\.home),
                        Field("writer", \\.writer, .linked),
                        Field("comments", \\.comments, .cascade),
                        Field("replies", \\.replies, .owned),
                        Field("folder", \\.folder),
                        indexes: [
                            Index(orderedBy: .ascending(\\.status), .descending(\\.date))
                        ]
                    ).dropped("stars")
                }

                /// Converts ``Message`` to its stored record and back.
                struct MessageTranslator: ReplacingTranslator {
                    func translate(model: MessageModel) throws -> Message {
                        try Message(
                            id: model.id,
                            date: model.date,
                            status: model.status,
                            tags: model.tags,
                            home: model.home,
                            writer: model.writer,
                            comments: CommentTranslator().translate(models: model.comments),
                            replies: model.replies.map(CommentTranslator().translate(models:)),
                            folder: model.folder
                        )
                    }
                    func translate(plain: Message) throws -> MessageModel {
                        try MessageModel(
                            id: plain.id,
                            date: plain.date,
                            status: plain.status,
                            tags: plain.tags,
                            home: plain.home,
                            writer: plain.writer,
                            comments: CommentTranslator().translate(plains: plain.comments),
                            replies: plain.replies.map(CommentTranslator().translate(plains:)),
                            folder: plain.folder
                        )
                    }
                }

                """)
        #expect(
            target.code("CommentModel.swift") == """
                import DAOCore
                import Foundation

                /// The stored record of ``Comment``.
                public struct CommentModel: Model {
                    public var id: UUID
                    var `default`: String
                    var `in`: Bool

                    public static let schema = Schema(
                        "comment", Self.init,
                        Field("id", \\.id, .primaryKey),
                        Field("default", \\.default),
                        Field("in", \\.in)
                    )
                }

                /// Converts ``Comment`` to its stored record and back.
                public struct CommentTranslator: ReplacingTranslator {
                    public init() {}

                    public func translate(model: CommentModel) throws -> Comment {
                        try Comment(model.id, default: model.default, in: model.in)
                    }
                    public func translate(plain: Comment) throws -> CommentModel {
                        CommentModel(id: plain.id, default: plain.default, in: plain.in)
                    }
                }

                """)
        let folder = try #require(target.code("SpaceFolderModel.swift"))
        #expect(folder.contains("    var name: String\n    var kind: Space.Folder.Kind\n    var parent: Int?\n"))
        #expect(folder.contains("\"folders\", Self.init,\n        Field(\"folder_name\", \\.name, .primaryKey),"))
        #expect(
            folder.contains(
                "throws -> Space.Folder {\n        Space.Folder(name: model.name, kind: model.kind, parent: model.parent)"))
    }

    @Test func unusualValuesAreWritten() throws {
        let target = Target()
        try target.write(
            """
            import DAOCore
            import Foundation

            @propertyWrapper struct Clamped: Sendable {
                var wrappedValue: Int
            }
            struct Level: Plain {
                let id: String
                @Clamped var height: Int
                var seen: Int = 0 { didSet {} }
                lazy var later: Int = id.count
                var price: Decimal!, url: URL, data: Data, span: Duration
                let `init`: Int
                var uniqueId: UniqueID { UniqueID(rawValue: self.id) }
            }
            final class Shelf: Plain {
                let id: UInt8
                let code: Int
                init(id: UInt8) { (self.id, code) = (id, Int(id) * 2) }
                var uniqueId: UniqueID { UniqueID(value: id) }
            }
            struct Name: RawRepresentable, PrimaryKeyValue { let rawValue: String }
            struct Kept { let id: Name }
            extension Kept: Plain { var uniqueId: UniqueID { UniqueID(id.rawValue) } }

            // Written by hand.
            struct Own: Plain { let id: Int; var uniqueId: UniqueID { UniqueID(id) } }
            struct OwnRecord: Model {
                var id: Int
                static let schema = Schema("own", Self.init, Field("id", \\.id, .primaryKey))
            }
            struct OwnMapper: ReplacingTranslator {
                func translate(model: OwnRecord) throws -> Own { Own(id: model.id) }
                func translate(plain: Own) throws -> OwnRecord { OwnRecord(id: plain.id) }
            }
            /// - Stored: never
            struct Passing<Value: Sendable>: Plain { let id: Int; let value: Value; var uniqueId: UniqueID { UniqueID(id) } }
            struct Owner: Plain {
                let id: Int
                /// - Stored: owned
                let all: [Own]
                var uniqueId: UniqueID { UniqueID(id) }
            }
            """, to: "Values.swift")
        let outcome = try target.generate()
        #expect(outcome.isClean, "\(outcome.lines)")
        #expect(target.models == ["KeptModel.swift", "LevelModel.swift", "OwnerModel.swift", "ShelfModel.swift"])
        let level = try #require(target.code("LevelModel.swift"))
        #expect(!level.contains("later"))
        #expect(level.contains("    var price: Decimal?\n"))
        #expect(level.contains("    var `init`: Int\n"))
        #expect(
            try #require(target.code("OwnerModel.swift")).contains(
                "Owner(id: model.id, all: OwnMapper().translate(models: model.all))"))
    }

    /// Each line that ends with `// error: …` has a finding that contains this text, and no other line has one.
    @Test func whatCannotBeGeneratedIsReportedAtItsLine() throws {
        let text = """
            import DAOCore
            import Dispatch
            import Foundation

            enum Bare { case a } // error: declare it 'enum Bare: Codable, FieldValue'
            enum Raw: String { case a } // error: declare it 'enum Raw: String, FieldValue'
            struct Point: Codable { var x: Int } // error: declare it 'struct Point: Codable, FieldValue'
            private struct Hidden: Codable, FieldValue {}
            struct Part: Plain { let id: Int; var uniqueId: UniqueID { UniqueID(id) } }
            struct One: Plain {
                let id: Int
                let bare: Bare
                let raw: Raw?
                let point: [Point]
                let pair: (Int, String) // error: '(Int, String)', which a field cannot be
                let counts: [String: Int] // error: which a field cannot be
                let set: Set<Int> // error: not a FieldValue
                let key: UniqueID // error: make the UniqueID of it
                let parts: [Part] // error: say one of these above it
                /// - Stored: owned
                let part: Part // error: make it 'Part?'
                /// - Stored: indexd // error: 'indexd // error
                let unknown: Int
                /// - Stored: indexed
                let list: [Int] // error: has no order
                let target: Reference<PartModel> // error: is a required Reference
                let call: @Sendable () -> Void // error: which a field cannot be
                var uniqueId: UniqueID { UniqueID(id) }
                init(
                    id: Int, bare: Bare, raw: Raw?, point: [Point], pair: (Int, String), counts: [String: Int], set: Set<Int>, key: UniqueID,
                    parts: [Part], part: Part, unknown: Int, list: [Int], target: Reference<PartModel>,
                    call: @escaping @Sendable () -> Void
                ) { fatalError() }
            }
            struct Generic<Value: Sendable>: Plain { // error: is generic
                let id: Int
                var uniqueId: UniqueID { UniqueID(id) }
            }
            enum Choice: Plain { // error: neither a struct nor a class
                case one
                var uniqueId: UniqueID { 1 }
            }
            private struct Secret: Plain { // error: is private
                let id: Int
                var uniqueId: UniqueID { UniqueID(id) }
            }
            struct Closed: Plain { // error: is private because of 'secret'); write init(id: Int)
                let id: Int
                private var secret = 1
                var uniqueId: UniqueID { UniqueID(id) }
            }
            struct Losing: Plain {
                let id: Int
                var lost: String // error: add the parameter 'lost: String'
                init(id: Int) { (self.id, lost) = (id, "") }
                var uniqueId: UniqueID { UniqueID(id) }
            }
            struct Keyless: Plain {
                let id: Int
                var uniqueId: UniqueID { UniqueID("key-\\(id)") } // error: say '- Stored: primaryKey'
            }
            struct WrongKey: Plain {
                let id: Double // error: cannot be a primary key
                var uniqueId: UniqueID { UniqueID(id) }
            }
            struct Taken: Plain { let id: Int; var uniqueId: UniqueID { UniqueID(id) } }
            struct TakenModel {} // error: is taken
            struct Twins: Plain {
                let id: Int
                let name: String
                let Name: String // error: ignores case
                var uniqueId: UniqueID { UniqueID(id) }
            }
            struct Unknown: Plain { // error: 'missing', the type of which is unknown
                let id: Int
                let missing: Missing
                var uniqueId: UniqueID { UniqueID(id) }
            }
            struct Foreign: Plain {
                let id: Int
                let wait: DispatchTimeInterval? // error: extension DispatchTimeInterval: @retroactive FieldValue
                var uniqueId: UniqueID { UniqueID(id) }
            }
            extension StorageError: Plain {
                public var uniqueId: UniqueID { 1 } // error: declared in another module
            }
            struct Mistaken: Plain {
                let id: Int
                /// - Stored: owned
                var size: Int // error: would not compile
                var uniqueId: UniqueID { UniqueID(id) }
            }
            """
        let target = Target()
        try target.write(text, to: "Values.swift")
        let outcome = try target.generate()
        #expect(!outcome.isClean)
        let errors = outcome.lines.filter { $0.contains(": error: ") }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let found = errors.filter { $0.hasPrefix("Values.swift:\(index + 1): ") }
            let marked = line.firstRange(of: "// error: ").map { String(line[$0.upperBound...]) }
            if let marked {
                #expect(found.count == 1 && found[0].contains(marked), "line \(index + 1), \(line): \(found)")
            } else {
                #expect(found.isEmpty, "line \(index + 1), \(line): \(found)")
            }
        }
        #expect(target.models == ["PartModel.swift"])
    }
}
