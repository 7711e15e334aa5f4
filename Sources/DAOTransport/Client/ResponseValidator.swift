import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The default validation of a response: first the error in its body, then its status.
public enum ResponseValidator {
    private struct ErrorBody: Decodable {
        struct Details: Decodable {
            let code: APIError.Code
            let title: String?
            let description: String?
        }

        let error: Details
    }

    /// Validates a response.
    ///
    /// - Throws: ``APIError`` when the body is `{"error": {"code": …}}`, with any status; otherwise
    ///   ``HTTPError`` when the status is outside 200..<300.
    public static func validate(_ response: HTTPURLResponse, with body: Data) throws {
        if mentionsError(body), let details = try? JsonBody(body, with: JSONDecoder()).decode(ErrorBody.self).error {
            throw APIError(
                code: details.code,
                title: details.title ?? details.description,
                statusCode: response.statusCode
            )
        }
        guard (200..<300).contains(response.statusCode) else {
            throw HTTPError(statusCode: response.statusCode, url: response.url, body: body)
        }
    }

    /// Whether the body can have the key, which may be written with escapes. Most bodies need not be parsed for it.
    private static func mentionsError(_ body: Data) -> Bool {
        body.range(of: Data("\"error\"".utf8)) != nil || body.range(of: Data("\\u".utf8)) != nil
    }
}
