/// A model that is to be written, and where it comes from.
struct ModelDeclaration {
    /// The application's value, with the types around it; nil when the model is the value itself.
    var plain: String?
    /// What the model is made from, for the first line of the file.
    var origin: String
    var place: Place
    var name: String
    var entity: String
    /// `public `, `package `, or nothing.
    var access: String
    var fields: [Field]
    /// What the indexes over several fields say, in Swift.
    var indexes: [String] = []
    /// The arguments of `dropped`.
    var dropped: [String] = []
    var imports: Set<String> = []
    /// Whether the initializer of the value throws.
    var initializerThrows = false
    /// What has to be added by hand, in Swift, as comments of the model.
    var missing: [String] = []

    /// The name of the translator.
    var translator: String { Self.translator(of: name) }

    static func translator(of model: String) -> String {
        (model.hasSuffix("Model") ? String(model.dropLast("Model".count)) : model) + "Translator"
    }

    struct Field {
        /// The property of the model and of the value.
        var property: String
        /// The label of the value's initializer; nil for an underscore.
        var label: String?
        /// The name in the database.
        var stored: String
        /// The type in the model.
        var type: String
        /// The options, in Swift and without their dots.
        var options: [String]
        var access: String
        var conversion = Conversion.none
        var place: Place
    }

    /// How a field of the model becomes the property of the value.
    enum Conversion {
        case none
        /// Through the translator with this name, for each element of an optional or an array.
        case each(translator: String)
    }
}
