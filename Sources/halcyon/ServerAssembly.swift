internal import Glibc
internal import ImageEngine
internal import ImageServer
internal import JSONRPC

/// The engine and the server that the settings describe, ready for a connection.
struct ServerAssembly {
    let manager: ImageManager
    let server: ImageServer
    let limits: ConnectionLimits
    private let recording: Recording?
    /// Records the messages; `nil` when nothing is recorded.
    var tap: ConnectionTap? { recording?.tap }

    init(_ settings: ServerSettings) throws {
        // The runtime's library of threads (libdispatch) reads their states there, and traps at any time where it cannot.
        guard access("/proc/self/stat", R_OK) == 0 else {
            throw StartFailure(description: "/proc is not mounted: mount it first, as in mount -t proc proc /proc.")
        }
        if let complaint = AddressSpace.own.complaint { throw StartFailure(description: complaint) }
        let configuration = settings.configuration
        recording = try Recording(configuration)
        var limits = ConnectionLimits()
        limits.outputBytes = configuration.outputLimit
        self.limits = limits
        var engine = configuration.engine
        if let recording {
            engine.downloader.recorder = recording.tape
            engine.clock = recording.clock
        }
        manager = ImageManager(engine)
        server = ImageServer(
            manager: manager, limits: limits, sources: settings.sources,
            delegateTimeout: configuration.delegateTimeout)
        server.useActivityDelays(
            activation: configuration.activateAfter, completion: configuration.completeAfter)
        StderrLog.forward { [weak server] in server?.report(level: $0, message: $1, metadata: $2) }
    }

    /// Makes the connection to the client.
    ///
    /// - Parameters:
    ///   - watched: Descriptors that call back once when they become readable.
    ///   - watchProcess: Asks the process to end when the client's process has ended.
    ///   - onFailure: Called with a sentence when the input cannot be read, or the output not be written.
    ///   - onGone: Called once when the client can no longer be written to.
    func connection(
        input: Int32, output: Int32, framing: MessageFraming?,
        watching watched: [(descriptor: Int32, handler: @Sendable (Connection) -> Void)] = [],
        watchProcess: @escaping @Sendable (Int32) -> Void = { _ in },
        onFailure: @escaping @Sendable (String) -> Void = { _ in }, onGone: @escaping @Sendable () -> Void = {}
    ) -> Connection {
        let server = server
        let connection = Connection(
            input: input, output: output, framing: framing, limits: limits, handler: server, tap: tap,
            watching: watched, onFailure: onFailure, onGone: onGone)
        var hooks = ImageServer.Hooks()
        hooks.requestsInFlight = { [weak connection] in connection?.requestsInFlight ?? 0 }
        hooks.openCalls = { [weak connection] in connection?.openCalls ?? [] }
        hooks.openCall = { [weak connection] in connection?.openCall($0) }
        hooks.output = { [weak connection] in connection?.budget.usage ?? OutputBudget.Usage() }
        hooks.notify = { [weak connection] method, params in connection?.notify(method, params) }
        hooks.client = { [weak connection] in connection }
        hooks.endRequestsToClient = { [weak connection] in connection?.endRequestsToClient() }
        hooks.watchProcess = watchProcess
        server.use(hooks)
        return connection
    }
}
