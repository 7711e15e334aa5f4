import DAOCore

/// A handle of an engine that no database has.
public struct UnknownHandle: UnderlyingHandle {}
