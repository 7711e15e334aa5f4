import DAOCore

extension FieldOption where Value: SearchableValue {
    /// Lets searches look into the field (contract chapter S).
    ///
    /// ```swift
    /// Field("title", \.title, .searchable(weight: 3)), Field("text", \.text, .searchable)
    /// ```
    ///
    /// The database keeps an index of the fields (contract S8), which is made when a storage of the model is first asked for.
    public static var searchable: FieldOption { searchable(weight: 1) }

    /// Lets searches look into the field, and says how much it counts (contract chapter S).
    ///
    /// - Parameter weight: As how many occurrences one counts, beside the other searchable fields; 1 to 1000.
    public static func searchable(weight: Int) -> FieldOption {
        TextIndexer.register()
        return .searchable(SearchableField(weight) { (value: Value) in value.searchedTexts })
    }
}

extension FieldOption {
    /// Not available: only texts are searchable.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "only texts are searchable: a field of type String, String? or [String]")
    public static var searchable: FieldOption { FieldOption.indexed }

    /// Not available: only texts are searchable.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "only texts are searchable: a field of type String, String? or [String]")
    public static func searchable(weight: Int) -> FieldOption { FieldOption.indexed }
}
