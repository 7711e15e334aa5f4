#if DAO_THREAD_SANITIZER
    import DAOCore

    /// Takes precedence over the imported type of this name.
    typealias Mutex<Value: ~Copyable> = SanitizedMutex<Value>
#endif
