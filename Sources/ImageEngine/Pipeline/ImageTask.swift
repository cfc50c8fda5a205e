internal import Platform
internal import Synchronization

/// A running ``ImageRequest``: it decides, loads and finishes, and ends once. It holds no Swift task while it loads.
public final class ImageTask: Sendable {
    /// Receives the result of a request.
    public typealias End = @Sendable (Result<ImageResult, any Error>) -> Void

    private enum Phase {
        /// A step runs or is waited for; `number` distinguishes it from earlier steps.
        case running(number: Int, stop: Stop?)
        case ended
    }

    private struct State {
        var phase = Phase.running(number: 0, stop: nil)
        var end: End?
        var isCancelled = false
        var isStandingIn = false

        /// - Returns: `false` when the failure image has been requested already, or the task is cancelled.
        mutating func startStandingIn() -> Bool {
            if isCancelled || isStandingIn { return false }
            isStandingIn = true
            return true
        }
    }

    private let pipeline: RequestPipeline
    private let request: ImageRequest
    private let state = Mutex(State())

    init(_ request: ImageRequest, _ pipeline: RequestPipeline) { (self.request, self.pipeline) = (request, pipeline) }

    /// Stops the request, which ends with a `CancellationError` unless it has ended.
    public func cancel() {
        let stop = state.withLock { state -> Stop? in
            state.isCancelled = true
            guard case .running(_, let stop) = state.phase else { return nil }
            return stop
        }
        stop?()
    }

    /// Starts the request; see ``ImageManager/retrieve(_:isMissing:looked:end:)``.
    func start(isMissing: Bool, looked: @escaping @Sendable () -> Void = {}, end: @escaping End) {
        let isCancelled = state.withLock { state in
            state.end = end
            return state.isCancelled
        }
        if isCancelled { return finish(.failure(CancellationError())) }
        if let step = pipeline.stepWithoutWaiting(request, isMissing: isMissing) {
            looked()
            return run(step)
        }
        if pipeline.asksOthersFirst(request) { looked() }
        continueInTask { [self] in
            do {
                let step = try await pipeline.firstStep(request)
                if !step.isAnswer { looked() }
                return step
            } catch {
                looked()
                throw error
            }
        }
    }

    private func run(_ step: RequestStep) {
        switch step {
        case .answer(let image): finish(.success(image))
        case .load(let load):
            wait {
                load.start { [self] in
                    pipeline.engine.counts.count($0)
                    finish($0)
                }
            }
        case .loadThen(let load, let next):
            wait {
                load.start { [self] result in
                    pipeline.engine.counts.count(result)
                    continueInTask { try await next(result) }
                }
            }
        }
    }

    private func continueInTask(_ step: @escaping @Sendable () async throws -> RequestStep) {
        wait {
            let task = Task { [self] in
                do { run(try await step()) } catch { finish(.failure(error)) }
            }
            return { task.cancel() }
        }
    }

    /// Starts a step to wait for; it may end, and the next one start, before `start` returns its stop function.
    private func wait(_ start: () -> Stop) {
        let number = state.withLock { state -> Int? in
            guard case .running(let last, _) = state.phase else { return nil }
            state.phase = .running(number: last + 1, stop: nil)
            return last + 1
        }
        guard let number else { return }
        let stop = start()
        let isCancelled = state.withLock { state in
            guard case .running(number, _) = state.phase else { return false }
            state.phase = .running(number: number, stop: stop)
            return state.isCancelled
        }
        if isCancelled { stop() }
    }

    /// Ends the request, or loads the failure image when the image could not be loaded.
    private func finish(_ result: Result<ImageResult, any Error>) {
        if case .failure(let error as ImageError) = result, let standIn = request.options.network.onFailureImage,
            !request.needs.contains(.pixels), state.withLock({ $0.startStandingIn() })
        {
            return continueInTask { [self] in
                .answer(try await ImageLoader(engine: pipeline.engine).placeholder(standIn, for: request, after: error))
            }
        }
        let end = state.withLock { state in
            state.phase = .ended
            return state.end.take()
        }
        end?(result)
    }
}
