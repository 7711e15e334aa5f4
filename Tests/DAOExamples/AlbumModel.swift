// Generated from Album by 'swift package generate-models' (d3827bc2d8b6b909).
// Generate again instead of editing. Delete these two lines to keep a version of your own: it is never overwritten.

import DAOCore
import Foundation

/// The stored record of ``Album``.
struct AlbumModel: Model {
    var id: UUID
    var title: String
    var artist: String
    var year: Int
    var genre: Genre?
    var tracks: [TrackModel]

    static let schema = Schema(
        "album", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title, .indexed, .renamed(from: "name")),
        Field("artist", \.artist),
        Field("year", \.year, .default(0)),
        Field("genre", \.genre),
        Field("tracks", \.tracks, .cascade),
        indexes: [
            Index(orderedBy: .ascending(\.artist), .descending(\.year))
        ]
    )
}

/// Converts ``Album`` to its stored record and back.
struct AlbumTranslator: ReplacingTranslator {
    func translate(model: AlbumModel) throws -> Album {
        try Album(
            id: model.id,
            title: model.title,
            artist: model.artist,
            year: model.year,
            genre: model.genre,
            tracks: TrackTranslator().translate(models: model.tracks)
        )
    }
    func translate(plain: Album) throws -> AlbumModel {
        try AlbumModel(
            id: plain.id,
            title: plain.title,
            artist: plain.artist,
            year: plain.year,
            genre: plain.genre,
            tracks: TrackTranslator().translate(plains: plain.tracks)
        )
    }
}
