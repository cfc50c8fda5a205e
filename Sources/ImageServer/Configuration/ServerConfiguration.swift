package import ImageEngine
package import JSONRPC
package import Logging

/// The settings in force of a server's process.
package struct ServerConfiguration: Sendable {
    /// The settings of the engine.
    package var engine = EngineConfiguration(cacheRoot: "")
    /// The framing of messages; `nil` to detect it from the first bytes.
    package var framing: MessageFraming?
    /// The largest size of what is made for the client and not yet read by it, in bytes.
    package var outputLimit = 64 << 20
    /// The time that downloads run before clients are told of activity, in seconds.
    package var activateAfter = 1.0
    /// The time without downloads before clients are told of their end, in seconds.
    package var completeAfter = 0.17
    /// The longest wait for the client's answer to a question, in seconds.
    package var delegateTimeout = 10.0
    /// The lowest level that is logged.
    package var logLevel = Logger.Level.warning
    /// The file that receives the log. Default: standard error.
    package var logFile: String?
    /// The file that counters are written to.
    package var metrics: String?
    /// The folder that the run is recorded in.
    package var mirror: String?
    /// The folder of a recording that downloads and the time come from.
    package var replay: String?

    /// The configuration when no source names any setting.
    package init() {
        engine.downloader.userAgent = "halcyon/\(ImageServer.version)"
        engine.remote.release = ImageServer.version
    }

    /// The folder that holds those of all caches; `nil` while none is named.
    package var cacheDir: String? {
        get { engine.cacheRoot.isEmpty ? nil : engine.cacheRoot }
        set { engine.cacheRoot = newValue ?? "" }
    }
}
