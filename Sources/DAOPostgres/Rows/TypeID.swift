/// The identifiers of the types that the suite's columns and parameters have, from the catalog `pg_type`.
enum TypeID {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let varchar: UInt32 = 1043
    static let numeric: UInt32 = 1700
    static let uuid: UInt32 = 2950

    /// How a statement names them.
    static let names: [UInt32: String] = [
        bool: "bool", bytea: "bytea", int2: "int2", int4: "int4", int8: "int8", text: "text", varchar: "varchar",
        float4: "float4", float8: "float8", numeric: "numeric", uuid: "uuid",
    ]

    /// The types of the elements of arrays, by the types of the arrays.
    static let elements: [UInt32: UInt32] = [
        1000: bool, 1001: bytea, 1005: int2, 1007: int4, 1009: text, 1015: varchar, 1016: int8, 1021: float4, 1022: float8,
        1231: numeric, 2951: uuid,
    ]
}
