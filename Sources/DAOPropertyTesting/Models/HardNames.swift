/// Names of entities and fields: words of query languages, the engines' own names, the longest there may be, letters of other scripts,
/// spaces and signs.
enum HardNames {
    static let entities = [
        "made", "select", "order", "table", "index", "Group", "a", "a_b", "main", "temp", "_", "__dao", "naïve", "имя", "link",
        "rowid",
        "random_note_title", "dao", "Order Details", "a-b", "2024", "x FROM y", "é!", String(repeating: "e", count: 60),
        String(repeating: "Long", count: 32),
    ]
    static let fields = [
        "order", "group", "select", "from", "where", "table", "index", "rowid", "_rowid_", "oid", "key", "value", "primary",
        "unique",
        "default", "null", "true", "limit", "offset", "case", "end", "in", "is", "not", "and", "or", "count", "max", "date",
        "parent",
        "position", "child", "b", "b_c", "c", "x1", "_", "__", "_id", "größe", "имя", "名前", "Self", "Type", "init", "values",
        "schema", "Order Date", "price (net)", "1st", "a & b? $1", "?1", "km %", "x FROM y",
        String(repeating: "f", count: 60), String(repeating: "Long", count: 32),
    ]
    /// Names that nothing can have.
    static let malformed = [
        "", " ", " a", "a ", "a.b", "a,b", "a/b", "a`b", "a=b", "a[b]", "a\\b", "a\"b", "'", "a;", "\0", "a\u{A0}b", "a\u{202E}b",
        "\u{301}a", "a\nb", String(repeating: "n", count: 129),
    ]
    /// Names that databases keep for themselves.
    static let reserved = ["dao_meta", "DAO_x", "sqlite_master", "SQLite_x"]
}
