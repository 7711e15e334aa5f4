extension Database {
    /// Compares all rows and links with those of a copy, as the running snapshot has them. Nobody writes in the copy meanwhile.
    ///
    /// - Returns: The number of rows of each entity.
    /// - Throws: `.corrupted` with the entity that differs.
    /// - Complexity: O(*rows*), with the keys of the parents of links in memory.
    package func compare(with copy: any Database) throws -> [String: Int] {
        func differs(_ entity: String, _ how: String, _ field: String? = nil) -> StorageError {
            StorageError(
                .corrupted, "the copy of '\(entity)' differs from the source: \(how); copy again into an empty target",
                entity: entity, field: field, path: copy.configuration.path)
        }
        let entities = try entities().filter { !$0.isOwn }
        var rows: [String: Int] = [:]
        for entity in entities {
            let links = try entity.relations(among: entities).map {
                (relation: $0, here: try makeLinks(for: $0), there: try copy.makeLinks(for: $0))
            }
            let inRows = Set(links.filter { $0.here.isInRows && $0.there.isInRows }.map(\.relation.field))
            let (here, there) = (try checksum(of: entity, with: inRows), try copy.checksum(of: entity, with: inRows))
            guard here == there else {
                throw differs(entity.name, "\(there.rows) rows instead of \(here.rows), or other values")
            }
            rows[entity.name] = here.rows
            for (relation, here, there) in links where !inRows.contains(relation.field) {
                let parents = try here.counts().map(\.parent)
                let known = try Set(there.counts().map(\.parent))
                let isSame =
                    try known == Set(parents)
                    && stride(from: 0, to: parents.count, by: 1000).allSatisfy { start in
                        let batch = Array(parents[start..<min(start + 1000, parents.count)])
                        return try here.children(of: batch) == there.children(of: batch)
                    }
                if !isSame { throw differs(entity.name, "other rows in '\(relation.field)'", relation.field) }
            }
        }
        return rows
    }

    private func checksum(of entity: EntityDescription, with links: Set<String>) throws -> RowChecksum {
        var checksum = RowChecksum(of: entity, with: links)
        try withEntityStore(.read) { store in
            try store.forEachRow(of: entity.name, after: nil) { _, values in
                checksum.add(values)
                return true
            }
        }
        return checksum
    }
}
