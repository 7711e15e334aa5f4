extension DatabaseConfiguration {
    /// A Boolean option, `true` or `false`; nil when it is missing.
    package func flag(_ name: String) throws -> Bool? {
        switch options[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw problem(name, "it is true or false")
        }
    }

    /// An integer option; nil when it is missing.
    package func count(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = options[name] else { return nil }
        guard let count = Int(text), range.contains(count) else {
            throw problem(name, "it is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    /// An option with a number of bytes, optionally with `K`, `M` or `G` for the powers of 1024; nil when it
    /// is missing.
    package func size(_ name: String) throws -> Int? {
        guard let text = options[name] else { return nil }
        let shift =
            switch text.last {
            case "K", "k": 10
            case "M", "m": 20
            case "G", "g": 30
            default: 0
            }
        let largest = 1 << 46
        guard let number = Int(shift == 0 ? text[...] : text.dropLast()), number > 0, number <= largest >> shift else {
            throw problem(name, "it is a number of bytes up to 64 TiB, or of K, M or G of them")
        }
        return number << shift
    }

    /// The option `mode`: the permissions of created files, as an octal number; nil when it is missing.
    package func fileMode() throws -> UInt16? {
        guard let text = options["mode"] else { return nil }
        guard let mode = UInt16(text, radix: 8), mode <= 0o777, mode & 0o600 == 0o600 else {
            throw problem("mode", "it is an octal number up to 0777 that lets the owner read and write, such as 0600")
        }
        return mode
    }

    /// The option `pinnedLimit`: from how many bytes on it is told what snapshots keep; nil when it is missing. It is checked where
    /// the database is opened.
    package var pinnedLimit: Int? { try? size("pinnedLimit") }

    private func problem(_ name: String, _ expectation: String) -> StorageError {
        StorageError(
            .invalidConfiguration, "the option '\(name)' of '\(scheme)' is '\(options[name] ?? "")': \(expectation)", path: path)
    }
}
