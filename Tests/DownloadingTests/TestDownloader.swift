import TestSupport

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// A downloader on its own, without any cache, asked as the engine asks it.
final class TestDownloader: Sendable {
    let folder: TemporaryFolder
    let downloader: ImageDownloader

    init(_ configure: (inout ImageDownloader.Configuration) -> Void = { _ in }) throws {
        let folder = try TemporaryFolder()
        var configuration = ImageDownloader.Configuration()
        configuration.proxy = .none
        // A busy machine may keep a test from going on for longer than a server may be silent, or a connection idle.
        configuration.timeout = 120
        configuration.network.idleSpan = 600_000_000_000
        configure(&configuration)
        self.folder = folder
        let names = Counter()
        downloader = ImageDownloader(
            configuration, spool: SpoolPlace(makePath: { "\(folder.path)/\(names.add()).part" }))
    }

    /// The request for a URL with the settings of the downloader.
    func request(_ url: String, _ change: (inout NetworkOptions) -> Void = { _ in }) throws -> DownloadRequest {
        var options = NetworkOptions()
        change(&options)
        options.limits.timeout = options.limits.timeout ?? downloader.timeout
        return try DownloadRequest(url: url, options: options)
    }

    /// The download of a URL.
    func load(
        _ url: String, priority: CallPriority = CallPriority(0.5), owner: (any DownloadOwner)? = nil,
        _ change: (inout NetworkOptions) -> Void = { _ in }, report: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> Download {
        try await downloader.download(try request(url, change), priority: priority, report: report, owner: owner)
    }

    /// The bytes at a URL.
    func bytes(_ url: String, _ change: (inout NetworkOptions) -> Void = { _ in }) async throws -> [UInt8] {
        try await load(url, change).body.bytes()
    }

    /// The error that loading a URL ends in; nil if it does not.
    func failure(_ url: String, _ change: (inout NetworkOptions) -> Void = { _ in }) async throws -> ImageError? {
        do {
            _ = try await load(url, change)
            return nil
        } catch let error as ImageError {
            return error
        }
    }
}
