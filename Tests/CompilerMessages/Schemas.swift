// swift-format-ignore-file
import DAOCore
import Foundation

struct NoSchema: Model {  // expect-error: type 'NoSchema' does not conform to protocol 'Model'
    var id: Int
}

struct AnotherFieldOrder: Model {
    var id: Int
    var text: String
    var date: Date

    static let schema = Schema(
        "another_field_order", Self.init,
        Field("id", \.id, .primaryKey),
        Field("date", \.date),  // expect-error: cannot convert value of type 'KeyPath<AnotherFieldOrder, Date>' to expected argument type 'KeyPath<AnotherFieldOrder, String>'
        Field("text", \.text)  // expect-error: cannot convert value of type 'KeyPath<AnotherFieldOrder, String>' to expected argument type 'KeyPath<AnotherFieldOrder, Date>'
    )
}

struct MissingField: Model {
    var id: Int
    var text: String
    var date: Date

    static let schema = Schema(
        "missing_field", Self.init,  // expect-error: missing argument for parameter #3 in call
        Field("id", \.id, .primaryKey),
        Field("text", \.text)
    )
}

struct ExtraField: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "extra_field", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        Field("date", \.date)  // expect-error: extra argument in call
    )
}

struct MisspeltKeyPath: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "misspelt_key_path", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.txt)  // expect-error: value of type 'MisspeltKeyPath' has no member 'txt'
    )
}

struct WrongDefault: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "wrong_default", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text, .default(5))  // expect-error: cannot convert value of type 'Int' to expected argument type 'String'
    )
}

struct DateAsKey: Model {
    var date: Date
    var text: String

    static let schema = Schema(
        "date_as_key", Self.init,
        Field("date", \.date, .primaryKey),  // expect-error: static property 'primaryKey' requires that 'Date' conform to 'PrimaryKeyValue'
        Field("text", \.text)
    )
}

struct OptionalKey: Model {
    var id: Int?
    var text: String

    static let schema = Schema(
        "optional_key", Self.init,
        Field("id", \.id, .primaryKey),  // expect-error: cannot convert value of type 'KeyPath<OptionalKey, Optional<Int>>' to expected argument type 'KeyPath<OptionalKey, Int>'
        Field("text", \.text)
    )
}

struct MisspeltOption: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "misspelt_option", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text, .index)  // expect-error: type 'FieldOption<String>' has no member 'index'
    )
}

struct Point: Sendable {
    var x: Double
}

struct NoFieldValue: Model {
    var id: Int
    var point: Point

    static let schema = Schema(  // expect-error: initializer 'init(_:_:_:indexes:)' requires that 'Point' conform to 'FieldValue'
        "no_field_value", Self.init,
        Field("id", \.id, .primaryKey),
        Field("point", \.point)  // expect-error: generic struct 'Field' requires that 'Point' conform to 'FieldValue'
    )
}

struct NoFieldName: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "no_field_name", Self.init,
        Field("id", \.id, .primaryKey),
        Field(\.text)  // expect-error: missing argument for parameter #2 in call
    )
}

struct NoEntityName: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        Self.init,  // expect-error: cannot convert value of type '@Sendable (Int, String) -> NoEntityName' to expected argument type 'String'
        Field("id", \.id, .primaryKey),  // expect-error: cannot convert value of type 'Field<Record, Value>' to expected argument type '@Sendable (Value) -> Record'
        Field("text", \.text)  // expect-error: cannot infer key path type from context; consider explicitly specifying a root type
    )
}

struct NoInitializer: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "no_initializer",
        Field("id", \.id, .primaryKey),  // expect-error: cannot convert value of type 'Field<Record, Value>' to expected argument type '@Sendable (Value) -> Record'
        Field("text", \.text)  // expect-error: cannot infer key path type from context; consider explicitly specifying a root type
    )
}

struct NamesOfAnotherModel: Model {  // expect-error: type 'NamesOfAnotherModel' does not conform to protocol 'Model'
    var id: Int
    var text: String

    static let schema = Schema(
        "names_of_another_model", Writer.init,
        Field("id", \.id, .primaryKey),
        Field("name", \.name)
    )
}

struct MisspeltFieldOfAnIndex: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        indexes: [Index(\.id, \.txt)]  // expect-error: value of type 'MisspeltFieldOfAnIndex' has no member 'txt'
    )
}

struct MisspeltTermOfAnIndex: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        indexes: [Index(.ascending(\.id), .descending(\.txt))]  // expect-error: value of type 'MisspeltTermOfAnIndex' has no member 'txt'
    )
}

struct MixedTermsOfAnIndex: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        indexes: [Index(\.id, .descending(\.text))]  // expect-error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'Index<MixedTermsOfAnIndex>.Term'
    )
}

struct ElementsOfAText: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        indexes: [Index(elements: \.text)]  // expect-error: initializer 'init(elements:)' requires that 'String' conform to 'ListValue'
    )
}

struct UniqueAsAnOptionOfAnIndex: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        indexes: [Index(\.id, \.text, .unique)]  // expect-error: type 'KeyPath<UniqueAsAnOptionOfAnIndex, _> & Sendable' has no member 'unique'
    )
}
