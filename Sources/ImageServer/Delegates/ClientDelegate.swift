internal import ImageEngine
internal import JSONRPC
internal import Logging

/// The client of the connection as the delegate of its downloads.
///
/// If the client does not answer a question in time, or its answer is not valid, the download goes on as without the
/// question.
final class ClientDelegate: DownloadDelegate {
    private let timeout: Double
    private let client: @Sendable () -> (any RequestSender)?
    private let logger = Logger(label: "halcyon.delegates")

    /// - Parameters:
    ///   - timeout: The number of seconds to wait for an answer.
    ///   - client: The receiver of the questions; `nil` when the connection is ending.
    init(timeout: Double, client: @escaping @Sendable () -> (any RequestSender)?) {
        self.timeout = timeout
        self.client = client
    }

    func modify(_ request: DownloadDraft) async throws -> DownloadDraft? {
        try await ask(.modifyRequest, default: request) { params in
            params.field("url", request.url)
            params.field("method", request.method.rawValue)
            params.field("headers", request.headers)
        } decode: {
            try DelegateAnswers.draft($0, of: request)
        }
    }

    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? {
        try await ask(.redirect, default: request) { params in
            params.field("from", url)
            params.field(.statusCode, status)
            params.field("url", request.url)
            params.field("method", request.method.rawValue)
            params.field("headers", request.headers)
        } decode: {
            try DelegateAnswers.draft($0, of: request)
        }
    }

    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? {
        try await ask(.validateStatus, default: nil) { params in
            params.field("url", url)
            params.field(.statusCode, status)
            params.field("contentType", contentType)
        } decode: {
            try DelegateAnswers.acceptance($0)
        }
    }

    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer {
        try await ask(.challenge, default: .useDefault) { params in
            params.field("url", challenge.url)
            params.field("host", challenge.host)
            params.field("realm", challenge.realm)
            params.field("scheme", challenge.scheme)
            params.field("isProxy", challenge.isProxy)
            params.field("failures", challenge.failures)
        } decode: {
            try DelegateAnswers.challenge($0)
        }
    }

    private func ask<Value: Sendable>(
        _ delegation: Delegation, default fallback: Value, params: (inout JSONWriter) -> Void,
        decode: @escaping @Sendable (JSONView) throws -> Value
    ) async throws -> Value {
        guard let client = client() else { return fallback }
        do {
            return try await client.request(
                delegation.name, timeout: timeout, params: { $0.object(params) }, decode: decode)
        } catch ClientRequestError.ended {
            return fallback
        } catch ClientRequestError.refused(let code, _) {
            warn(delegation, "It is an error with the code \(code).")
        } catch let error as ClientRequestError {
            warn(delegation, error.description)
        } catch let error as Mismatch {
            warn(delegation, error.path.isEmpty ? "It \(error.message)." : error.error.message)
        }
        return fallback
    }

    /// Logs, without the URL, that the client's answer cannot be used.
    private func warn(_ delegation: Delegation, _ reason: String) {
        logger.warning(
            "the client gave no answer that can be used; going on without it",
            metadata: ["method": "\(delegation.name)", "reason": "\(reason)"])
    }
}

extension JSONWriter {
    fileprivate mutating func field(_ name: StaticString, _ headers: [String: String]) {
        key(name)
        object { writer in
            for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
                writer.key(name)
                writer.write(value)
            }
        }
    }
}

/// Stands for the client in the options of a request until ``ImageServer/addingClientDelegate(to:)`` replaces it by the
/// client: the decoder of options does not know the connection.
final class UndecidedDelegate: DownloadDelegate {
    static let shared = UndecidedDelegate()

    func modify(_ request: DownloadDraft) async throws -> DownloadDraft? { request }
    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? { request }
    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? { nil }
    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer { .useDefault }
}

extension ImageServer {
    /// The options with the client as the delegate for the questions that the request lists, or else those that the
    /// client listed in `initialize`. Every method that loads images calls this first.
    func addingClientDelegate(to options: ImageOptions?) -> ImageOptions? {
        let questions = options?.network.delegates?.questions ?? declaredQuestions
        if questions.isEmpty, options?.network.delegates == nil { return options }
        var options = options ?? ImageOptions()
        options.network.delegates = questions.isEmpty ? nil : DownloadDelegates(clientDelegate, questions: questions)
        return options
    }
}
