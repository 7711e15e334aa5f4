// The code of the landing pages of the modules that is nowhere else, compiled.

import DAOCore
import DAOCurl
import DAOLMDB
import DAOSQLite
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

func openLMDB() throws -> any Database {
    let database = try DatabaseDrivers(.lmdb).open("lmdb:///var/lib/app.mdb?durability=relaxed")
    return database
}

func openSQLite() throws -> any Database {
    let database = try DatabaseDrivers(.sqlite).open("sqlite:///var/lib/app.db")
    return database
}

struct Book: Decodable {
    let id: Int
    let title: String
}

struct BookListEndpoint: JsonEndpoint, URLRequestBuildable {
    typealias Content = [Book]
    func makeRequest() throws -> URLRequest { try get("books") }
}

func books(server: URL) async throws -> [Book] {
    let books = try await CurlClient(baseURL: server).request(BookListEndpoint())
    return books
}

func sessionBooks(server: URL) async throws -> [Book] {
    let books = try await URLSessionClient(baseURL: server).request(BookListEndpoint())
    return books
}
