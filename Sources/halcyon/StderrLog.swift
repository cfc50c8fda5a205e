internal import Glibc
internal import ImageEngine
internal import Logging
internal import Platform
internal import Synchronization

/// A log handler that writes to stderr or a file. A line that would block, because nobody reads the pipe, is dropped.
struct StderrLog: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let label: String
    private let descriptor: Int32

    /// The receiver of a copy of every line.
    private static let receiver = Mutex<Receiver?>(nil)

    private struct Receiver: Sendable {
        let call: @Sendable (_ level: String, _ message: String, _ metadata: [(name: String, value: String)]) -> Void
    }

    /// Sets the receiver of a copy of every line. It is called from any thread.
    static func forward(
        to receiver: @escaping @Sendable (String, String, [(name: String, value: String)]) -> Void
    ) {
        self.receiver.withLock { $0 = Receiver(call: receiver) }
    }

    /// Where the loggers that are made next write, and what.
    private static let target = Mutex<(level: Logger.Level, descriptor: Int32)>((.info, 2))
    /// Made once: a process has one logging system.
    private static let system: Void = LoggingSystem.bootstrap { label in
        let (level, descriptor) = target.withLock { $0 }
        return StderrLog(logLevel: level, label: label, descriptor: descriptor)
    }

    /// Makes every logger that is made from now on write to `file`, or to stderr when `nil`.
    static func install(level: Logger.Level, file: String?) {
        var descriptor: Int32 = 2
        if let file {
            let opened = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            if opened >= 0 {
                descriptor = opened
            } else {
                printToStderr(
                    "The log file \(file) cannot be opened (\(String(cString: strerror(errno)))); stderr is used.")
            }
        }
        target.withLock { [descriptor] in $0 = (level, descriptor) }
        system
    }

    private init(logLevel: Logger.Level, label: String, descriptor: Int32) {
        self.logLevel = logLevel
        self.label = label
        self.descriptor = descriptor
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { _, new in new }
            .sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value.description) }
        let extra = values.map { " \($0.name)=\($0.value)" }.joined()
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let line = Array("\(ISO8601.text(time.tv_sec)) \(event.level) \(label): \(event.message)\(extra)\n".utf8)
        Self.receiver.withLock { $0 }?.call(event.level.rawValue, event.message.description, values)
        writeLine(line, to: descriptor)
    }
}
