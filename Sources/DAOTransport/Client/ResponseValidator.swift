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
        if let details = try? JSONDecoder().decode(ErrorBody.self, from: body).error {
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
}
