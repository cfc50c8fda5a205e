/// The next step of a request. A request is a sequence of steps, so that it holds no task while it waits for a load.
enum RequestStep: Sendable {
    /// Answers with the image.
    case answer(ImageResult)
    /// Loads the image and answers with it.
    case load(ImageLoad)
    /// Loads the image and continues with the result.
    case loadThen(ImageLoad, @Sendable (Result<ImageResult, any Error>) async throws -> RequestStep)

    var isAnswer: Bool { if case .answer = self { true } else { false } }

    /// This step, followed by one that receives its image.
    func then(_ next: @escaping @Sendable (ImageResult) async throws -> RequestStep) async throws -> RequestStep {
        switch self {
        case .answer(let image): try await next(image)
        case .load(let load): .loadThen(load) { try await next($0.get()) }
        case .loadThen(let load, let after): .loadThen(load) { try await after($0).then(next) }
        }
    }
}
