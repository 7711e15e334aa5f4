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
        "another_field_order", Self.init,  // expect-error: cannot convert value of type '@Sendable (Int, String, Date) -> AnotherFieldOrder' to expected argument type '@Sendable (Int, Date, String) -> AnotherFieldOrder'
        Field("id", \.id, .primaryKey),
        Field("date", \.date),
        Field("text", \.text)
    )
}

struct MissingField: Model {
    var id: Int
    var text: String
    var date: Date

    static let schema = Schema(  // expect-error: cannot convert value of type '@Sendable (Int, String, Date) -> MissingField' to expected argument type '@Sendable (Int, String) -> MissingField'
        "missing_field", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text)
    )
}

struct ExtraField: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "extra_field", Self.init,  // expect-error: cannot convert value of type '@Sendable (Int, String) -> ExtraField' to expected argument type '@Sendable (Int, String, Value) -> ExtraField'
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        Field("date", \.date)  // expect-error: value of type 'ExtraField' has no member 'date'
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
        Field("date", \.date, .primaryKey),  // expect-error: 'primaryKey' is unavailable: a primary key is an Int, a String, a UUID, or a type with one of them as its raw value, and never nil
        Field("text", \.text)
    )
}

struct OptionalKey: Model {
    var id: Int?
    var text: String

    static let schema = Schema(
        "optional_key", Self.init,
        Field("id", \.id, .primaryKey),  // expect-error: 'primaryKey' is unavailable: a primary key is an Int, a String, a UUID, or a type with one of them as its raw value, and never nil
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

    static let schema = Schema(
        "no_field_value", Self.init,
        Field("id", \.id, .primaryKey),
        Field("point", \.point)  // expect-error: generic type alias 'Field' requires that 'Point' conform to 'FieldValue'
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
        Field("id", \.id, .primaryKey),  // expect-error: cannot convert value of type 'Field<NoEntityName, Int>' to expected argument type '@Sendable (String) -> NoEntityName'
        Field("text", \.text)
    )
}

struct NoInitializer: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "no_initializer",
        Field("id", \.id, .primaryKey),  // expect-error: cannot convert value of type 'Field<NoInitializer, Int>' to expected argument type '@Sendable (String) -> NoInitializer'
        Field("text", \.text)
    )
}

struct InitializerOfAnotherModel: Model {
    var id: Int
    var name: String

    static let schema = Schema(  // expect-error: the initializer makes another model than the one that the fields are of
        "initializer_of_another_model", Writer.init,
        Field("id", \.id, .primaryKey),
        Field("name", \.name)
    )
}

struct NamesOfAnotherModel: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "names_of_another_model", Writer.init,
        Field("id", \.id, .primaryKey),
        Field("name", \.name)  // expect-error: value of type 'NamesOfAnotherModel' has no member 'name'
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
        indexes: [Index(orderedBy: .ascending(\.id), .descending(\.txt))]  // expect-error: value of type 'MisspeltTermOfAnIndex' has no member 'txt'
    )
}

struct MixedTermsOfAnIndex: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("text", \.text),
        indexes: [Index(\.id, .descending(\.text))]  // expect-error: & Sendable' has no member 'descending'
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

struct IndexOfOneField: Model {
    var id: Int
    var text: String

    static let schema = Schema(
        "index_of_one_field", Self.init,
        Field("id", \.id, .primaryKey), Field("text", \.text),
        indexes: [Index(\.text)]  // expect-error: an index on one field is an option of the field: .indexed, or .unique
    )
}

struct ComputedProperty: Model {
    var id: Int
    var text: String
    var shout: String { text.uppercased() }

    static let schema = Schema(
        "computed_property", Self.init,  // expect-error: cannot convert value of type '@Sendable (Int, String) -> ComputedProperty' to expected argument type '@Sendable (Int, String, String) -> ComputedProperty'
        Field("id", \.id, .primaryKey), Field("text", \.text), Field("shout", \.shout)
    )
}
