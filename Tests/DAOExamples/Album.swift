import DAOCore
import Foundation

enum Genre: String, FieldValue { case jazz, rock }

/// An album.
///
/// - Stored: Index(orderedBy: .ascending(\.artist), .descending(\.year))
struct Album: Plain {
    let id: UUID
    /// - Stored: indexed, renamed(from: "name")
    let title: String
    let artist: String
    /// The year of its first release.
    ///
    /// - Stored: default(0)
    let year: Int
    let genre: Genre?
    /// - Stored: cascade
    let tracks: [Track]
    var uniqueId: UniqueID { UniqueID(id) }
}

struct Track: Plain {
    let id: Int
    let title: String
    var uniqueId: UniqueID { UniqueID(id) }
}
