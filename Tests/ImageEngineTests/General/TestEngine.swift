import Foundation
import Glibc
import TestSupport

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A whole engine over a folder of its own and a clock that the test moves.
final class TestEngine: Sendable {
    let folder: TemporaryFolder
    let clock: ManualClock
    let manager: ImageManager
    let cache: ImageCache

    /// - Parameter folder: Of another engine, to share it.
    init(
        folder: TemporaryFolder? = nil, clock: ManualClock = ManualClock(seconds: 1_800_000_000),
        _ configure: (inout EngineConfiguration) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        var configuration = EngineConfiguration(cacheRoot: folder.path + "/cache")
        configuration.clock = EngineClock(monotonic: { clock.now }, wall: { clock.seconds })
        // A busy machine may keep a test from going on for longer than a server may be silent.
        configuration.downloader.timeout = 120
        // Nor is it the worker that hangs then.
        configuration.codec.graceSeconds = 600
        // What has expired when a test moves the clock is still there, unless the test cleans.
        configuration.cleanInterval = 0
        configure(&configuration)
        self.folder = folder
        self.clock = clock
        manager = ImageManager(configuration)
        guard let cache = manager.cache(CacheRegistry.defaultName) else {
            throw SystemError(0, "open", "the cache")
        }
        self.cache = cache
    }

    /// The image at a URL, asked for as the server does: looked for at once, and otherwise retrieved.
    func image(
        _ url: String, key: String? = nil, bytes: Bool = false, priority: CallPriority? = nil,
        _ change: (inout ImageOptions) -> Void = { _ in }, report: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> ImageResult {
        let options = ImageOptions(change)
        let resource = Resource(url: url, cacheKey: key)
        let caller = ImageCaller(priority: priority ?? CallPriority(options.caller.downloadPriority), report: report)
        var isMissing = false
        if !bytes {
            let glance = try manager.glance(at: resource, in: cache, options: options, needs: .file, burst: 0)
            if case .found(let image) = glance, !options.processing.wantsPreview { return image }
            if case .missing = glance { isMissing = true }
        }
        let request = ImageRequest(
            resource, in: cache, options: options, needs: bytes ? .bytes : .file, caller: caller)
        let result = try await manager.image(request, isMissing: isMissing)
        return bytes ? try await manager.loadingBytes(of: result, in: cache, options: options) : result
    }

    /// The error that loading a URL ends in; nil if it does not.
    func failure(
        _ url: String, bytes: Bool = false, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        do {
            _ = try await image(url, bytes: bytes, change)
            return nil
        } catch let error as ImageError {
            return error
        }
    }

    /// The files of finished images.
    var blobs: [String] { folder.files.filter { $0.contains("/blobs/") } }
    /// The files that are being written, or were left.
    var partials: [String] { folder.files.filter { $0.contains("/partial/") } }
}

extension ImageOptions {
    /// The defaults, changed.
    init(_ change: (inout ImageOptions) -> Void) {
        self.init()
        change(&self)
    }
}
