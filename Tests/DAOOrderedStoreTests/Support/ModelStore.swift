typealias Bytes = [UInt8]

/// The reference model of a store: pairs in an array, ordered by key. It is slow, but simple enough to be
/// correct.
struct ModelStore: Equatable {
    private(set) var keys: [Bytes] = []
    private(set) var values: [Bytes] = []

    /// The index of the first key that is not less than the given key.
    func lowerBound(_ key: Bytes) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func value(_ key: Bytes) -> Bytes? {
        let index = lowerBound(key)
        return index < keys.count && keys[index] == key ? values[index] : nil
    }

    mutating func put(_ key: Bytes, _ value: Bytes) {
        let index = lowerBound(key)
        if index < keys.count, keys[index] == key {
            values[index] = value
        } else {
            keys.insert(key, at: index)
            values.insert(value, at: index)
        }
    }

    /// Appends a pair after all existing pairs.
    mutating func append(_ key: Bytes, _ value: Bytes) {
        keys.append(key)
        values.append(value)
    }

    mutating func delete(_ key: Bytes) -> Bool {
        let index = lowerBound(key)
        guard index < keys.count, keys[index] == key else { return false }
        keys.remove(at: index)
        values.remove(at: index)
        return true
    }
}
