internal import Glibc
public import ImageErrors
internal import Logging
internal import Platform
internal import Synchronization

/// A folder with the downloads of a time, to be played back without network (D-31).
///
/// Each request has a folder named by the digest of what was asked, each download a numbered file in it, see
/// ``TapeExchange``. Credentials are not written; bodies and URLs are, so the files are their owner's alone.
public final class Tape: Sendable {
    /// What is done with it.
    public enum Use: Sendable, Hashable { case record, play }

    private let folder: String
    private let use: Use
    private static let logger = Logger(label: "halcyon.tape")
    /// How many answers to each request have been played.
    private let played = Mutex<[String: Int]>([:])

    private var exchanges: String { folder + "/exchanges" }
    /// Holds the time of the first recording, in seconds since 1970.
    private var startFile: String { folder + "/started" }

    /// A tape in `folder`; recording makes it.
    ///
    /// - Parameter now: Seconds since 1970: what a new tape begins with.
    /// - Throws: ``ImageError/storageFailed(reason:hint:)`` when the folder cannot be made, or holds nothing to play.
    public init(_ folder: String, use: Use, now: Int) throws(ImageError) {
        self.folder = folder
        self.use = use
        do {
            switch use {
            case .record:
                for path in [folder, exchanges] where mkdir(path, 0o700) != 0 && errno != EEXIST {
                    throw SystemError(errno, "make", path)
                }
                let descriptor = open(startFile, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                if descriptor < 0 {
                    guard errno == EEXIST else { throw SystemError(errno, "create", startFile) }
                    return
                }
                defer { close(descriptor) }
                try Array("\(now)\n".utf8).withUnsafeBytes {
                    try Files.writeAll($0, to: descriptor, startFile)
                }
            case .play: _ = try Files.read(startFile, followsLinks: true)
            }
        } catch {
            throw ImageError.storage(error, folder: folder)
        }
    }

    /// Seconds since 1970 when the recording began; nil if that is not told.
    public var started: Int? {
        guard let bytes = try? Files.read(startFile, followsLinks: true) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// The download of `request`: played, or made by `live` and recorded.
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

    /// What a recorded answer is found by: the URL, whether the server was asked for changes only, and of what is no GET the
    /// method and the body.
    private func name(of request: DownloadRequest) -> String {
        let validators = request.validators
        var parts = [request.webURL.text, validators?.etag ?? "", validators?.lastModified ?? ""]
        if request.method != .get {
            parts += [request.method.rawValue, (request.body ?? []).withUnsafeBytes { Digest(of: $0) }.hex]
        }
        return Digest(of: parts.joined(separator: "\n")).hex
    }

    // MARK: Recording

    /// Adds a download. A tape that cannot be written is no reason to fail it.
    private func record(_ request: DownloadRequest, _ outcome: TapeExchange.Outcome, _ body: DownloadedBody?) {
        let folder = exchanges + "/" + name(of: request)
        _ = mkdir(folder, 0o700)
        let head = TapeExchange(url: request.webURL.text, method: request.method, outcome: outcome).head
        do {
            // Written beside, as every file of ours, for another process may be playing.
            let draft = "\(self.folder)/\(getpid())-\(UInt64.random(in: 0 ... .max)).part"
            let descriptor = try Files.create(draft)
            defer {
                close(descriptor)
                unlink(draft)
            }
            try head.withUnsafeBytes { try Files.writeAll($0, to: descriptor, draft) }
            try body?.forEachPiece { try Files.writeAll($0, to: descriptor, draft) }
            for number in 1...1_000_000 {
                if link(draft, "\(folder)/\(number)") == 0 { return }
                guard errno == EEXIST else { throw SystemError(errno, "name", draft) }
            }
        } catch {
            Self.logger.error("a download could not be recorded", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: Playing

    /// The next recorded answer; when all have been played, the last one again.
    private func play(_ request: DownloadRequest, _ place: SpoolPlace) throws -> Download {
        // A server may always answer in full, though it was asked for changes only.
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
            let response = DownloadResponse(
                status: status, url: url, contentType: fields["content-type"], etag: fields["etag"],
                lastModified: fields["last-modified"],
                isConfirmation: status == 304 && request.validators != nil, fields: fields)
            return Download(
                response: response, body: try spool.finish(), redirects: route.count, route: route,
                limits: request.limits)
        }
    }
}
