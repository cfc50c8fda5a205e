internal import ImageRecipes
internal import Platform

/// The reason why a codec worker gave no answer.
enum CodecFailure: Error, Sendable, Equatable {
    /// The program does not exist.
    case missing(path: String?)
    /// The program could not be started; `reason` is a sentence.
    case notStarted(path: String, reason: String)
    /// The worker uses another version of the messages.
    case otherVersion(path: String, version: Int)
    /// The worker ended or was stopped; the status is its exit code, or its signal as a negative number.
    case died(status: Int32)
    /// The worker took longer than that number of seconds.
    case hung(seconds: Double)
    /// The worker's answer is not valid.
    case garbled(reason: String)
    /// All callers have cancelled.
    case abandoned

    /// `true` when a job may not be to blame, and is done once more, alone, by a fresh worker: a worker may have been ended
    /// from outside, or by what it did before; and of several jobs at most one is to blame for the time or the answer.
    func isWorthAnotherTry(of jobs: Int) -> Bool {
        switch self {
        case .died: true
        case .hung, .garbled: jobs > 1
        case .missing, .notStarted, .otherVersion, .abandoned: false
        }
    }

    /// The error for the caller.
    ///
    /// - Parameter source: The name of the image that was processed.
    func imageError(_ source: String) -> any Error {
        func failed(_ reason: String) -> ImageError { .processingFailed(reason: reason) }
        switch self {
        case .missing(let path):
            let place = path.map { "is not at \($0.excerpt)" } ?? "was not found beside halcyon"
            return failed(
                "Pictures cannot be processed here: the codec worker halcyon-codec \(place). Install it there, or say where it is with --codec or HALCYON_CODEC."
            )
        case .notStarted(let path, let reason):
            return failed(
                "Pictures cannot be processed: the codec worker \(path.excerpt) cannot be started: \(reason)")
        case .otherVersion(let path, let version):
            return failed(
                "Pictures cannot be processed: the codec worker \(path.excerpt) is of another version (\(version), not \(RenderMessage.version)): install the one that came with this halcyon."
            )
        case .died(let status):
            let end = status < 0 ? "was ended or stopped by signal \(-status)" : "ended with code \(status)"
            return failed(
                "\(source.excerpt) cannot be processed: the codec worker \(end) while it worked on this image. Others are not affected."
            )
        case .hung(let seconds):
            return ImageError.limitExceeded(
                limit: "decodeSeconds", reason: "the codec worker took longer than \(seconds.shortest) s",
                source: source)
        case .garbled(let reason):
            return failed(
                "\(source.excerpt) cannot be processed: the answer of the codec worker cannot be read (\(reason)).")
        case .abandoned: return CancellationError()
        }
    }
}

extension RenderFailure {
    /// The error for the caller, as ``CodecFailure/imageError(_:)``.
    func imageError(_ source: String) -> ImageError {
        switch kind {
        case .badData: .badData(reason: reason, source: source)
        case .limit(let name): .limitExceeded(limit: name, reason: Self.clause(reason), source: source)
        case .unsupported, .processingFailed:
            .processingFailed(reason: "\(source.excerpt) cannot be processed: \(reason)")
        case .outOfMemory:
            .processingFailed(reason: "\(source.excerpt) cannot be processed: there was not enough memory. \(reason)")
        case .sourceFailed:
            .storageFailed(
                reason: "\(source.excerpt): \(reason)", hint: "Try again when it is complete and can be read.")
        case .resultFailed:
            .storageFailed(reason: reason, hint: "Check that the cache folder can be written and has space left.")
        }
    }

    /// The sentence without its full stop, for use inside another one.
    private static func clause(_ text: String) -> String {
        text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
