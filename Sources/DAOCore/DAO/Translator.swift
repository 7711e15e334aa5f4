/// Turns stored models into the application's values, and writes those into models.
///
/// A translator without `translate(from:to:)` replaces a stored model whole: one write, nothing read first. One that has it merges: the stored
/// model is read, filled, and only what changed is written, so fields that the plain value does not carry survive (contract W2).
///
/// ```swift
/// struct MessageTranslator: Translator {
///     func translate(model: MessageModel) throws -> Message { Message(id: model.id, text: model.text) }
///     func translate(plain: Message) throws -> MessageModel { MessageModel(id: plain.id, text: plain.text, draft: nil) }
///     func translate(from plain: Message, to model: inout MessageModel) throws { model.text = plain.text }
/// }
/// ```
///
/// When a DAO writes, its translator runs inside the transaction: other DAOs and storages that it uses join, and see the
/// rows that are not committed yet.
public protocol Translator: Sendable {
    /// The application's value.
    associatedtype Plain: DAOCore.Plain
    /// The stored record.
    associatedtype Model: DAOCore.Model
    /// What `translate(from:to:)` returns: `Void` where the translator has one. Inferred; nobody writes it.
    associatedtype Merging = ReplacesWhole

    /// The application's value for a stored record.
    func translate(model: Model) throws -> Plain

    /// A new record for a value.
    func translate(plain: Plain) throws -> Model

    /// Writes a value into the record that is stored for it. The record's key must stay as it is (contract K4).
    func translate(from plain: Plain, to model: inout Model) throws -> Merging

    /// The application's values for stored records, in their order.
    func translate(models: [Model]) throws -> [Plain]

    /// New records for values, in their order.
    func translate(plains: [Plain]) throws -> [Model]
}

/// Marks a translator that has no `translate(from:to:)` of its own: stored models are replaced whole.
public struct ReplacesWhole: Sendable {}

extension Translator {
    /// Replaces the record whole. A translator with a method of its own here merges instead.
    public func translate(from plain: Plain, to model: inout Model) throws -> ReplacesWhole {
        model = try translate(plain: plain)
        return ReplacesWhole()
    }

    /// Translates one by one.
    @inlinable public func translate(models: [Model]) throws -> [Plain] { try models.map { try translate(model: $0) } }

    /// Translates one by one.
    @inlinable public func translate(plains: [Plain]) throws -> [Model] { try plains.map { try translate(plain: $0) } }

    /// Writes values into the records that are stored for them, pair by pair.
    ///
    /// - Throws: `.invalidQuery` when the counts differ; nothing is translated then.
    public func translate(from plains: [Plain], to models: inout [Model]) throws {
        guard plains.count == models.count else {
            throw StorageError(
                .invalidQuery,
                "\(plains.count) values cannot be written into \(models.count) records; give as many values as records",
                entity: Model.schema.description.name)
        }
        for index in plains.indices { _ = try translate(from: plains[index], to: &models[index]) }
    }

    /// Whether the translator has a `translate(from:to:)` of its own.
    @inlinable static var merges: Bool { Merging.self != ReplacesWhole.self }
}

/// The translator of a type that is both the application's value and the stored record.
///
/// ```swift
/// struct Tag: Plain, Model { … }
/// let tags = DAO(storage: try database.storage(for: Tag.self))
/// ```
public struct IdentityTranslator<Record: Model & Plain>: Translator {
    /// Creates the translator.
    public init() {}
    /// The record itself.
    @inlinable public func translate(model: Record) throws -> Record { model }
    /// The value itself.
    @inlinable public func translate(plain: Record) throws -> Record { plain }
    /// The records themselves.
    @inlinable public func translate(models: [Record]) throws -> [Record] { models }
    /// The values themselves.
    @inlinable public func translate(plains: [Record]) throws -> [Record] { plains }
}
