// swift-format-ignore-file
import DAOCore
import Foundation

// Mistakes in models of 20 fields, and in conditions on a model of 60 fields.

struct Wide60: Model {
    var id: Int
    var a1: String; var a2: Date; var a3: Double; var a4: Bool; var a5: String?; var a6: Int
    var a7: String; var a8: Date; var a9: Double; var a10: Bool; var a11: String?; var a12: Int
    var a13: String; var a14: Date; var a15: Double; var a16: Bool; var a17: String?; var a18: Int
    var a19: String; var a20: Date; var a21: Double; var a22: Bool; var a23: String?; var a24: Int
    var a25: String; var a26: Date; var a27: Double; var a28: Bool; var a29: String?; var a30: Int
    var a31: String; var a32: Date; var a33: Double; var a34: Bool; var a35: String?; var a36: Int
    var a37: String; var a38: Date; var a39: Double; var a40: Bool; var a41: String?; var a42: Int
    var a43: String; var a44: Date; var a45: Double; var a46: Bool; var a47: String?; var a48: Int
    var a49: String; var a50: Date; var a51: Double; var a52: Bool; var a53: String?; var a54: Int
    var a55: String; var a56: Date; var a57: Double; var a58: Bool; var a59: String?

    static let schema = Schema(
        "wide60", Self.init, Field("id", \.id, .primaryKey),
        Field("a1", \.a1), Field("a2", \.a2), Field("a3", \.a3), Field("a4", \.a4),
        Field("a5", \.a5), Field("a6", \.a6), Field("a7", \.a7), Field("a8", \.a8),
        Field("a9", \.a9), Field("a10", \.a10), Field("a11", \.a11), Field("a12", \.a12),
        Field("a13", \.a13), Field("a14", \.a14), Field("a15", \.a15), Field("a16", \.a16),
        Field("a17", \.a17), Field("a18", \.a18), Field("a19", \.a19), Field("a20", \.a20),
        Field("a21", \.a21), Field("a22", \.a22), Field("a23", \.a23), Field("a24", \.a24),
        Field("a25", \.a25), Field("a26", \.a26), Field("a27", \.a27), Field("a28", \.a28),
        Field("a29", \.a29), Field("a30", \.a30), Field("a31", \.a31), Field("a32", \.a32),
        Field("a33", \.a33), Field("a34", \.a34), Field("a35", \.a35), Field("a36", \.a36),
        Field("a37", \.a37), Field("a38", \.a38), Field("a39", \.a39), Field("a40", \.a40),
        Field("a41", \.a41), Field("a42", \.a42), Field("a43", \.a43), Field("a44", \.a44),
        Field("a45", \.a45), Field("a46", \.a46), Field("a47", \.a47), Field("a48", \.a48),
        Field("a49", \.a49), Field("a50", \.a50), Field("a51", \.a51), Field("a52", \.a52),
        Field("a53", \.a53), Field("a54", \.a54), Field("a55", \.a55), Field("a56", \.a56),
        Field("a57", \.a57), Field("a58", \.a58), Field("a59", \.a59)
    )
}

struct Wide20Misspelt: Model {
    var id: Int
    var a1: String; var a2: Date; var a3: Double; var a4: Bool; var a5: String?; var a6: Int
    var a7: String; var a8: Date; var a9: Double; var a10: Bool; var a11: String?; var a12: Int
    var a13: String; var a14: Date; var a15: Double; var a16: Bool; var a17: String?; var a18: Int
    var a19: String

    static let schema = Schema(
        "wide20_misspelt", Self.init, Field("id", \.id, .primaryKey),
        Field("a1", \.a1), Field("a2", \.a2), Field("a3", \.a3), Field("a4", \.a4),
        Field("a5", \.a5), Field("a6", \.a6), Field("a7", \.a7), Field("a8", \.a8),
        Field("a9", \.a9), Field("a10", \.b10), Field("a11", \.a11), Field("a12", \.a12),  // expect-error: value of type 'Wide20Misspelt' has no member 'b10'
        Field("a13", \.a13), Field("a14", \.a14), Field("a15", \.a15), Field("a16", \.a16),
        Field("a17", \.a17), Field("a18", \.a18), Field("a19", \.a19)
    )
}

struct Wide20Default: Model {
    var id: Int
    var a1: String; var a2: Date; var a3: Double; var a4: Bool; var a5: String?; var a6: Int
    var a7: String; var a8: Date; var a9: Double; var a10: Bool; var a11: String?; var a12: Int
    var a13: String; var a14: Date; var a15: Double; var a16: Bool; var a17: String?; var a18: Int
    var a19: String

    static let schema = Schema(
        "wide20_default", Self.init, Field("id", \.id, .primaryKey),
        Field("a1", \.a1), Field("a2", \.a2), Field("a3", \.a3), Field("a4", \.a4),
        Field("a5", \.a5), Field("a6", \.a6), Field("a7", \.a7), Field("a8", \.a8),
        Field("a9", \.a9), Field("a10", \.a10), Field("a11", \.a11), Field("a12", \.a12),
        Field("a13", \.a13), Field("a14", \.a14), Field("a15", \.a15), Field("a16", \.a16),
        Field("a17", \.a17, .default(Date?.none)), Field("a18", \.a18), Field("a19", \.a19)  // expect-error: cannot convert value of type 'Optional<Date>' to expected argument type 'Optional<String>'
    )
}

struct Wide20Missing: Model {
    var id: Int
    var a1: String; var a2: Date; var a3: Double; var a4: Bool; var a5: String?; var a6: Int
    var a7: String; var a8: Date; var a9: Double; var a10: Bool; var a11: String?; var a12: Int
    var a13: String; var a14: Date; var a15: Double; var a16: Bool; var a17: String?; var a18: Int
    var a19: String

    static let schema = Schema(
        "wide20_missing", Self.init, Field("id", \.id, .primaryKey),
        Field("a1", \.a1), Field("a2", \.a2), Field("a3", \.a3), Field("a4", \.a4),
        Field("a5", \.a5), Field("a6", \.a6), Field("a7", \.a7), Field("a8", \.a8),
        Field("a9", \.a9), Field("a10", \.a10), Field("a11", \.a11), Field("a12", \.a12),
        Field("a13", \.a13), Field("a14", \.a14), Field("a15", \.a15), Field("a16", \.a16),  // expect-error: missing argument for parameter #20 in call
        Field("a17", \.a17), Field("a18", \.a18)
    )
}

struct Wide20Option: Model {
    var id: Int
    var a1: String; var a2: Date; var a3: Double; var a4: Bool; var a5: String?; var a6: Int
    var a7: String; var a8: Date; var a9: Double; var a10: Bool; var a11: String?; var a12: Int
    var a13: String; var a14: Date; var a15: Double; var a16: Bool; var a17: String?; var a18: Int
    var a19: String

    static let schema = Schema(
        "wide20_option", Self.init, Field("id", \.id, .primaryKey),
        Field("a1", \.a1), Field("a2", \.a2), Field("a3", \.a3), Field("a4", \.a4),
        Field("a5", \.a5), Field("a6", \.a6, .indexd), Field("a7", \.a7), Field("a8", \.a8),  // expect-error: type 'FieldOption<Int>' has no member 'indexd'
        Field("a9", \.a9), Field("a10", \.a10), Field("a11", \.a11), Field("a12", \.a12),
        Field("a13", \.a13), Field("a14", \.a14), Field("a15", \.a15), Field("a16", \.a16),
        Field("a17", \.a17), Field("a18", \.a18), Field("a19", \.a19)
    )
}

struct Wide20Order: Model {
    var id: Int
    var a1: String; var a2: Date; var a3: Double; var a4: Bool; var a5: String?; var a6: Int
    var a7: String; var a8: Date; var a9: Double; var a10: Bool; var a11: String?; var a12: Int
    var a13: String; var a14: Date; var a15: Double; var a16: Bool; var a17: String?; var a18: Int
    var a19: String

    static let schema = Schema(
        "wide20_order", Self.init, Field("id", \.id, .primaryKey),  // expect-error: cannot convert value of type '@Sendable (Int, String, Date, Double, Bool, String?, Int, // expect-error: to expected argument type '@Sendable (Int, String, Date, Bool, Double, String?, Int,
        Field("a1", \.a1), Field("a2", \.a2), Field("a4", \.a4), Field("a3", \.a3),
        Field("a5", \.a5), Field("a6", \.a6), Field("a7", \.a7), Field("a8", \.a8),
        Field("a9", \.a9), Field("a10", \.a10), Field("a11", \.a11), Field("a12", \.a12),
        Field("a13", \.a13), Field("a14", \.a14), Field("a15", \.a15), Field("a16", \.a16),
        Field("a17", \.a17), Field("a18", \.a18), Field("a19", \.a19)
    )
}

func wide(_ rows: DAO<WideTranslator>, _ from: Date) throws {
    _ = try rows.read { $0.a1 == "a" && $0.a2 > from && $0.a3 < 5 && !$0.a4 && $0.a5 == nil && $0.a60 == "b" }  // expect-error: value of type 'FieldProxy<Wide60>' has no dynamic member 'a60' using key path from root type 'Wide60'
    _ = try rows.erase { $0.a1 == "a" && $0.a2 > from && $0.a3 < 5 && !$0.a4 && $0.a5 == nil && $0.a54 == "b" }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<Wide60, Int>' and 'String'
    _ = try rows.read(orderedBy: .descending(\.a60), limit: 5) { $0.a1 == "a" }  // expect-error: value of type 'Wide60' has no member 'a60'
}

struct WideTranslator: Translator {
    func translate(model: Wide60) throws -> Message { Message(id: model.id, text: model.a1) }
    func translate(plain: Message) throws -> Wide60 { throw CancellationError() }
    func translate(from plain: Message, to model: inout Wide60) throws {}
}
