internal import DownloadRecording
internal import Glibc
internal import ImageEngine
internal import ImageServer
internal import JSONRPC
internal import Logging
internal import Platform

/// The recording of a run of the server, or the playback of one, in a folder.
///
/// Each recorded run has two files there, `TIME-PROCESS.input` and `.output`, with every byte in both directions;
/// downloads are on the ``Tape`` beside them.
struct Recording {
    let tape: Tape
    /// The copies of both directions of the protocol; `nil` during playback.
    let tap: ConnectionTap?
    /// The clocks of the run. During playback they begin at the time of the recording.
    let clock: EngineClock

    /// Begins what the settings ask for; `nil` when they ask for neither.
    init?(_ settings: ServerConfiguration) throws {
        let now = EngineClock.system.wall()
        if settings.mirror != nil, settings.replay != nil {
            throw StartFailure(description: "A replay cannot be recorded: give mirror or replay, not both.")
        }
        if let folder = settings.replay {
            tape = try Self.tape(folder, .play, now)
            tap = nil
            var clock = EngineClock.system
            if let started = tape.started { clock.wall = { EngineClock.system.wall() - now + started } }
            self.clock = clock
        } else if let folder = settings.mirror {
            tape = try Self.tape(folder, .record, now)
            tap = try Self.tap("\(folder)/\(now)-\(getpid())")
            clock = .system
        } else {
            return nil
        }
    }

    private static func tape(_ folder: String, _ use: Tape.Use, _ now: Int) throws -> Tape {
        do { return try Tape(folder, use: use, now: now) } catch ImageError.storageFailed(let reason, _, _) {
            let flag = if case .play = use { "--replay" } else { "--mirror" }
            throw StartFailure(description: "The folder of \(flag) cannot be used: \(reason)")
        } catch {
            throw StartFailure(description: "\(error)")
        }
    }

    private static func tap(_ name: String) throws -> ConnectionTap {
        ConnectionTap(input: try recorder(name + ".input"), output: try recorder(name + ".output"))
    }

    /// Appends bytes to a new file. What cannot be written is logged.
    private static func recorder(_ path: String) throws -> @Sendable (UnsafeRawBufferPointer) -> Void {
        let file: CreatedFile
        do { file = try CreatedFile(path) } catch {
            throw StartFailure(description: "\(path) cannot be written: \(String(cString: strerror(error.code))).")
        }
        return { bytes in
            do { try file.descriptor.write(bytes) } catch {
                logger.error("a message could not be recorded", metadata: ["reason": "\(error)"])
            }
        }
    }

    private static let logger = Logger(label: "halcyon.recording")
}
