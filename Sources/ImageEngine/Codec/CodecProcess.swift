internal import CLinux
internal import Glibc
internal import ImageRecipes
internal import Platform

/// One codec worker: a process and the socket to it. Used by one thread.
struct CodecProcess: ~Copyable {
    /// The parts of the codec library that it has prepared.
    let parts: Set<CodecPart>
    private let process: pid_t
    private let socket: Int32
    /// The socket from which the standard error of the process can be read. The process never waits for a reader.
    private let errors: Int32
    private var reader = RenderMessageReader()

    /// Starts the program with the socket as its descriptor 3, no other descriptor, and only the environment variables
    /// that it needs to find libraries.
    init(_ path: String, preparing parts: Set<CodecPart>) throws(CodecFailure) {
        guard access(path, X_OK) == 0 else { throw .missing(path: path) }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .notStarted(path: path, reason: Self.sentence(errno))
        }
        defer { close(ends[1]) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        var errorEnds: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, kind, 0, &errorEnds) == 0 else {
            let code = errno
            close(ends[0])
            throw .notStarted(path: path, reason: Self.sentence(code))
        }
        defer { close(errorEnds[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, errorEnds[1], 2)
        // Needed even when it is 3 already: dup2 clears its close-on-exec flag.
        posix_spawn_file_actions_adddup2(&actions, ends[1], 3)
        _ = hl_spawn_closing(&actions, 4)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let words = [path] + parts.map(\.rawValue).sorted()
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = Self.environment.map { strdup($0) } + [nil]
        defer {
            for text in arguments + variables { free(text) }
        }
        var process: pid_t = 0
        let code = posix_spawn(&process, path, &actions, &attributes, &arguments, &variables)
        guard code == 0 else {
            close(ends[0])
            close(errorEnds[0])
            throw .notStarted(path: path, reason: Self.sentence(code))
        }
        self.process = process
        self.parts = parts
        socket = ends[0]
        errors = errorEnds[0]
    }

    /// Ends the process if it is still running, and waits for its end.
    deinit {
        kill(process, SIGKILL)
        close(socket)
        close(errors)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    /// The environment of the process: no settings, no proxies, no secrets.
    private static let environment: [String] = {
        let names: [String] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "VIPSHOME"]
        return [hugePages]
            + names.compactMap { (name: String) -> String? in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    }()

    /// Has glibc ask for huge pages where it maps large blocks, as for decoded pixels. Systems without them ignore it.
    private static let hugePages = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"

    private static func sentence(_ code: Int32) -> String { "\(String(cString: strerror(code)))." }

    /// The descriptor that becomes readable when the process sends something or ends.
    var descriptor: Int32 { socket }

    /// `true` when the process has sent nothing and has not ended.
    var isSilent: Bool {
        var place = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&place, 1, 0) == 0
    }

    /// Reads the first message of the process, with its properties.
    ///
    /// - Parameter deadline: The time on the machine's monotonic clock, in nanoseconds.
    mutating func greeting(
        _ path: String, deadline: Int, _ attention: Attention
    ) throws(CodecFailure) -> CodecFacts {
        let message: RenderMessage
        do throws(CodecFailure) {
            message = try receive(deadline: deadline, seconds: 10, attention)
        } catch .died(let status) where status > 0 {
            throw .notStarted(path: path, reason: complaint(of: path, status))
        }
        guard case .hello(let facts) = message else { throw .garbled(reason: "it did not introduce itself") }
        guard facts.version == RenderMessage.version else {
            throw .otherVersion(path: path, version: facts.version)
        }
        return facts
    }

    /// The reason why the program ended before it introduced itself, as a sentence: the last line of its standard error.
    private func complaint(of path: String, _ status: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = max(0, read(errors, &buffer, buffer.count))
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        guard var line = lines.last else { return "it ended with code \(status)." }
        // The words of the dynamic loader before those about the library.
        for words in ["\(path): ", "error while loading shared libraries: "] where line.hasPrefix(words) {
            line = line.dropFirst(words.count)
        }
        let reason = String(line).excerpt + (line.hasSuffix(".") ? "" : ".")
        return Self.statusesWithoutLibrary.contains(status) ? reason + " " + Self.advice : reason
    }

    /// The exit codes of the dynamic loader that lacks a library, and of a worker whose library does not start.
    private static let statusesWithoutLibrary: Set<Int32> = [127, 69]
    private static let advice =
        "Install libvips 8.14 or later: the package libvips42 of Debian and Ubuntu, vips of Fedora, libvips of Arch Linux."

    /// Sends a request with the descriptors of its files and waits for the reply.
    mutating func reply(
        to request: RenderRequest, _ descriptors: [Int32], within seconds: Double, _ attention: Attention
    ) throws(CodecFailure) -> RenderReply {
        let deadline = monotonicNanoseconds() + Int(min(seconds, 1e6) * 1e9)
        try send(
            RenderMessage.request(request).frame, descriptors, deadline: deadline, seconds: seconds, attention)
        guard case .reply(let reply) = try receive(deadline: deadline, seconds: seconds, attention) else {
            throw .garbled(reason: "it is not a reply")
        }
        guard reply.outcomes.count == request.outputs.count else {
            throw .garbled(reason: "\(reply.outcomes.count) outcomes for \(request.outputs.count) outputs")
        }
        return reply
    }

    /// The means to interrupt a wait for the process.
    struct Attention {
        /// Wakes the waiting thread.
        let event: WakeEvent
        /// Returns `true` when the woken thread should give up.
        let isAbandoned: () -> Bool
    }

    private func send(
        _ bytes: [UInt8], _ descriptors: [Int32], deadline: Int, seconds: Double, _ attention: Attention
    ) throws(CodecFailure) {
        var (rest, along) = (bytes[...], descriptors)
        while !rest.isEmpty {
            try wait(Int16(POLLOUT), deadline: deadline, seconds: seconds, attention)
            let count = rest.withUnsafeBytes {
                hl_send(socket, $0.baseAddress, $0.count, along, along.count)
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw .died(status: status()) }
            rest = rest.dropFirst(count)
            along = []
        }
    }

    private mutating func receive(
        deadline: Int, seconds: Double, _ attention: Attention
    ) throws(CodecFailure) -> RenderMessage {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            do throws(FrameError) {
                if let message = try reader.next() { return message }
            } catch { throw .garbled(reason: error.reason) }
            try wait(Int16(POLLIN), deadline: deadline, seconds: seconds, attention)
            let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw .died(status: status()) }
            reader.append(buffer.prefix(count))
        }
    }

    /// The time between two looks whether the process has been stopped from outside.
    private static let lookMilliseconds = 500

    /// Waits until the socket is ready. A process that was stopped counts as dead.
    private func wait(
        _ events: Int16, deadline: Int, seconds: Double, _ attention: Attention
    ) throws(CodecFailure) {
        while true {
            let rest = deadline - monotonicNanoseconds()
            guard rest > 0 else { throw .hung(seconds: seconds) }
            var places = [attention.event.place, pollfd(fd: socket, events: events, revents: 0)]
            let count = attention.event.poll(&places, Int32(min(rest / 1_000_000 + 1, Self.lookMilliseconds)))
            if count == 0, hl_is_stopped(process) != 0 { throw .died(status: -SIGSTOP) }
            if count < 0, errno != EINTR { throw .garbled(reason: String(cString: strerror(errno))) }
            if places[0].revents != 0, attention.isAbandoned() { throw .abandoned }
            if places[1].revents != 0 { return }
        }
    }

    /// The exit code of a process that has closed its socket, or its signal as a negative number; 0 if unknown.
    private func status() -> Int32 {
        // It may be about to end or have only closed the socket, so the wait is bounded.
        var info = siginfo_t()
        for _ in 0..<50 {
            if waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0, info.si_pid_number == process {
                return info.si_code == CLD_EXITED ? info.si_status_number : -info.si_status_number
            }
            usleep(2000)
        }
        return 0
    }
}

extension siginfo_t {
    /// The process that has ended; 0 for none.
    fileprivate var si_pid_number: pid_t { _sifields._sigchld.si_pid }
    /// The exit code or the signal.
    fileprivate var si_status_number: Int32 { _sifields._sigchld.si_status }
}
