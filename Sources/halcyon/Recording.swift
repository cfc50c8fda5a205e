internal import DownloadRecording
internal import Glibc
internal import ImageEngine
internal import ImageServer
internal import JSONRPC
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
        let (input, output) = (try file(name + ".input"), try file(name + ".output"))
        return ConnectionTap(
            input: { bytes in _ = write(input, bytes.baseAddress, bytes.count) },
            output: { bytes in _ = write(output, bytes.baseAddress, bytes.count) })
    }

    private static func file(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StartFailure(description: "\(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        return descriptor
    }
}
