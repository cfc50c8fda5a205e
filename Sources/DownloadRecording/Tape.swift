package import Downloading
internal import Glibc
package import ImageErrors
internal import Logging
internal import Platform
internal import Synchronization

/// A folder with recorded downloads, which can be played back without network.
///
/// Each request has a folder named by the digest of its properties, and each download is a numbered file in it; see
/// ``TapeExchange``. Credentials are not recorded. Bodies and URLs are, so only the owner can read the files.
package final class Tape: DownloadRecorder {
    /// The use of a tape.
    package enum Use: Sendable, Hashable { case record, play }

    private let folder: String
    private let use: Use
    private static let logger = Logger(label: "halcyon.tape")
    /// The number of played responses to each request.
    private let played = Mutex<[String: Int]>([:])

    private var exchanges: String { folder + "/exchanges" }
    /// The path of the file with the time of the first recording, in seconds since 1970.
    private var startFile: String { folder + "/started" }

    /// Opens a tape in `folder`. Recording creates the folder.
    ///
    /// - Parameter now: The seconds since 1970, recorded as the start of a new tape.
    /// - Throws: ``ImageError/storageFailed(reason:hint:)`` when the folder cannot be created, or contains nothing to
    ///   play.
    package init(_ folder: String, use: Use, now: Int) throws(ImageError) {
        self.folder = folder
        self.use = use
        do {
            switch use {
            case .record:
                for path in [folder, exchanges] where mkdir(path, 0o700) != 0 && errno != EEXIST {
                    throw SystemError(errno, "make", path)
                }
                do {
                    try Descriptor(creating: startFile).write(Array("\(now)\n".utf8))
                } catch let failure as SystemError where failure.code == EEXIST {}
            case .play: _ = try Files.read(startFile, followsLinks: true)
            }
        } catch {
            throw ImageError.storage(error, folder: folder)
        }
    }

    /// The start of the recording in seconds since 1970. `nil`: unknown.
    package var started: Int? {
        guard let bytes = try? Files.read(startFile, followsLinks: true) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// The download of `request`: played, or performed by `live` and recorded.
    package func download(
        _ request: DownloadRequest, _ place: SpoolPlace, live: () async throws -> Download
    ) async throws -> Download {
        if use == .play { return try play(request, place) }
        do {
            let download = try await live()
            let response = download.response
            let fields = TapeExchange.fields(of: download)
            record(request, .answer(status: response.status, url: response.url, fields: fields), download.body)
            return download
        } catch let error as ImageError {
            record(request, .failure(error), nil)
            throw error
        }
    }

    /// The name of a request's folder: made of the URL, the validators, and the method and body of a request that is
    /// not a GET.
    private func name(of request: DownloadRequest) -> String {
        let validators = request.validators
        var parts = [request.webURL.text, validators?.etag ?? "", validators?.lastModified ?? ""]
        if request.method != .get {
            parts += [request.method.rawValue, (request.body ?? []).withUnsafeBytes { Digest(of: $0) }.hex]
        }
        return Digest(of: parts.joined(separator: "\n")).hex
    }

    // MARK: Recording

    /// Records a download. A failure to write does not fail the download.
    private func record(_ request: DownloadRequest, _ outcome: TapeExchange.Outcome, _ body: DownloadedBody?) {
        let folder = exchanges + "/" + name(of: request)
        _ = mkdir(folder, 0o700)
        let head = TapeExchange(url: request.webURL.text, method: request.method, outcome: outcome).head
        do {
            // Written to a draft first, because another process may be playing.
            let draft = try Descriptor(
                creating: "\(self.folder)/\(getpid())-\(UInt64.random(in: 0 ... .max)).part")
            defer { unlink(draft.path) }
            try draft.write(head)
            try body?.forEachPiece { try draft.write($0) }
            for number in 1...1_000_000 {
                if link(draft.path, "\(folder)/\(number)") == 0 { return }
                guard errno == EEXIST else { throw SystemError(errno, "name", draft.path) }
            }
        } catch {
            Self.logger.error("a download could not be recorded", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: Playing

    /// The next recorded response; after the last one, the last one again.
    private func play(_ request: DownloadRequest, _ place: SpoolPlace) throws -> Download {
        // A server may always answer a conditional request in full.
        for name in [name(of: request), name(of: request.unconditional)] {
            guard let path = next(name) else { continue }
            return try play(path, for: request, place)
        }
        throw ImageError.connectionFailed(
            url: request.url, reason: "Nothing is recorded for it in \(folder), which is played instead of the network."
        )
    }

    private func next(_ name: String) -> String? {
        let folder = "\(exchanges)/\(name)"
        return played.withLock { played in
            let number = played[name, default: 0] + 1
            for number in [number, number - 1] where number > 0 && access("\(folder)/\(number)", R_OK) == 0 {
                played[name] = number
                return "\(folder)/\(number)"
            }
            return nil
        }
    }

    private func play(_ path: String, for request: DownloadRequest, _ place: SpoolPlace) throws -> Download {
        let unreadable = ImageError.connectionFailed(
            url: request.url, reason: "What is recorded for it cannot be read: \(path).")
        guard let text = try? Files.read(path, followsLinks: true),
            let (exchange, start) = TapeExchange.parse(text)
        else { throw unreadable }
        switch exchange.outcome {
        case .failure(let error): throw error
        case .answer(let status, let url, var fields):
            let route = TapeExchange.takeRoute(from: &fields)
            guard text.count - start <= request.limits.maxBytes else {
                throw request.limits.tooLarge(request.url)
            }
            let spool = BodySpool(place)
            try text.withUnsafeBytes { bytes in
                try spool.append(UnsafeRawBufferPointer(rebasing: bytes[start...]), expected: text.count - start)
            }
            var response = DownloadResponse()
            (response.status, response.url, response.fields) = (status, url, fields)
            (response.contentType, response.etag) = (fields["content-type"], fields["etag"])
            response.lastModified = fields["last-modified"]
            response.isConfirmation = status == 304 && request.validators != nil
            var download = Download(response: response, body: try spool.finish())
            download.route = route
            return download
        }
    }
}
