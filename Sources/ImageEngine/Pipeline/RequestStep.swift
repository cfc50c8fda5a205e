/// What a request does next. A request is a row of such steps, so that it holds no task while it waits for a load.
enum RequestStep: Sendable {
    /// Answers.
    case answer(ImageResult)
    /// Loads, and then answers with what was loaded.
    case load(ImageLoad)
    /// Loads, and then goes on with what came of that.
    case loadThen(ImageLoad, @Sendable (Result<ImageResult, any Error>) async throws -> RequestStep)

    /// The same step, followed by another one that takes its image.
    func then(_ next: @escaping @Sendable (ImageResult) async throws -> RequestStep) async throws -> RequestStep {
        switch self {
        case .answer(let image): try await next(image)
        case .load(let load): .loadThen(load) { try await next($0.get()) }
        case .loadThen(let load, let after): .loadThen(load) { try await after($0).then(next) }
        }
    }
}
