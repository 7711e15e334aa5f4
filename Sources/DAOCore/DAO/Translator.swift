/// A conversion between stored models and the application's values.
///
/// A translator merges: a write reads the stored model, ``translate(from:to:)`` changes it, and the write stores
/// only the changes. Fields that the value does not carry keep their contents (contract W2). A translator that
/// replaces stored models is a ``ReplacingTranslator``.
///
/// ```swift
/// struct MessageTranslator: Translator {
///     func translate(model: MessageModel) throws -> Message { Message(id: model.id, text: model.text) }
///     func translate(plain: Message) throws -> MessageModel { MessageModel(id: plain.id, text: plain.text, draft: nil) }
///     func translate(from plain: Message, to model: inout MessageModel) throws { model.text = plain.text }
/// }
/// ```
///
/// When a DAO writes, its translator runs inside the transaction. Other DAOs and storages that the translator
/// uses join the transaction and see its uncommitted rows.
public protocol Translator: TranslatorOrModel where DAOMapping == Self, DAOPlain == Plain, DAORecord == Model {
    /// The application's value.
    associatedtype Plain: DAOCore.Plain
    /// The stored record.
    associatedtype Model: DAOCore.Model
    /// The return type of `translate(from:to:)`: `Void` when the translator implements the method. The
    /// compiler infers it; do not declare it.
    associatedtype Merging = Void
    /// The value; see ``TranslatorOrModel``. The compiler infers it, as the next two.
    associatedtype DAOPlain = Plain
    /// The stored record.
    associatedtype DAORecord = Model
    /// The translator itself.
    associatedtype DAOMapping = Self

    /// Returns the application's value of a stored record.
    func translate(model: Model) throws -> Plain

    /// Returns a new record for a value, with everything that a row gets which is not stored yet, lists of related rows
    /// included: ``translate(from:to:)`` is not asked for it.
    func translate(plain: Plain) throws -> Model

    /// Writes a value into its stored record. The key of the record must not change (contract K4).
    func translate(from plain: Plain, to model: inout Model) throws -> Merging

    /// Returns the application's values of stored records, in their order.
    func translate(models: [Model]) throws -> [Plain]

    /// Returns new records for values, in their order.
    func translate(plains: [Plain]) throws -> [Model]
}

/// A translator that replaces stored models completely: a write reads nothing, and fields that the value does
/// not carry lose their contents. Choose it when the value carries every field of the model.
///
/// ```swift
/// struct LanguageTranslator: ReplacingTranslator {
///     func translate(model: LanguageModel) throws -> Language { Language(code: model.code, name: model.name) }
///     func translate(plain: Language) throws -> LanguageModel { LanguageModel(code: plain.code, name: plain.name) }
/// }
/// ```
///
/// A replacing translator that implements `translate(from:to:)` merges nevertheless.
public protocol ReplacingTranslator: Translator {}

/// The marker of a translator that replaces stored models: the return type of its `translate(from:to:)`.
public struct ReplacesWhole: Sendable {}

extension ReplacingTranslator {
    /// Replaces the record completely.
    public func translate(from plain: Plain, to model: inout Model) throws -> ReplacesWhole {
        model = try translate(plain: plain)
        return ReplacesWhole()
    }
}

extension Translator {
    /// Translates the elements individually.
    @inlinable public func translate(models: [Model]) throws -> [Plain] { try models.map { try translate(model: $0) } }

    /// Translates the elements individually.
    @inlinable public func translate(plains: [Plain]) throws -> [Model] { try plains.map { try translate(plain: $0) } }

    /// Writes values into their stored records. The arrays have the same order.
    ///
    /// - Throws: `.invalidQuery` when the counts differ. Nothing is translated in that case.
    public func translate(from plains: [Plain], to models: inout [Model]) throws {
        guard plains.count == models.count else {
            throw StorageError(
                .invalidQuery,
                "\(plains.count) values cannot be written into \(models.count) records; give as many values as records",
                entity: Model.schema.description.name)
        }
        for index in plains.indices { _ = try translate(from: plains[index], to: &models[index]) }
    }

    /// Whether the translator implements `translate(from:to:)`, and therefore merges.
    @inlinable static var merges: Bool { Merging.self != ReplacesWhole.self }
}

/// The translator of a model whose records are the application's values: that of a `DAO<Tag>`.
public struct IdentityTranslator<Record: Model>: ReplacingTranslator, OwnTranslator {
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

/// A translator that runs no code of the application.
protocol OwnTranslator {}
