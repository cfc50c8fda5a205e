internal import CLinux
internal import Glibc

/// What this process may use of the machine: the limits of its control groups (cgroups, version 1 or 2), as containers have
/// them.
package struct MachineLimits: Sendable, Equatable {
    /// The most memory in bytes; `nil` for no limit.
    package var memory: Int?
    /// The most processors at a time; `nil` for no limit.
    package var processors: Int?

    /// The limits by the files of the system.
    ///
    /// - Parameters:
    ///   - groups: The content of `/proc/self/cgroup`.
    ///   - read: Returns the content of a file below `/sys/fs/cgroup`, or `nil`.
    package init(groups: String, read: (_ path: String) -> String?) {
        for line in groups.split(separator: "\n") {
            // <number>:<controllers>:<path>; version 2 has no controllers.
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let controllers = parts[1].split(separator: ",")
            // A limit of any group above counts too. In a container, the own group is often mounted as the root.
            var path = String(parts[2])
            while true {
                if controllers.isEmpty { note(path, read) } else { note(path, controllers, read) }
                guard let slash = path.lastIndex(of: "/") else { break }
                path = String(path[..<slash])
            }
        }
    }

    private mutating func note(_ path: String, _ read: (String) -> String?) {
        noteMemory(read(path + "/memory.max"))
        // <quota> <period> in microseconds, or "max".
        let time = read(path + "/cpu.max")?.split(whereSeparator: \.isWhitespace).map { Int($0) } ?? []
        if time.count == 2 { noteTime(time[0], of: time[1]) }
    }

    private mutating func note(_ path: String, _ controllers: [Substring], _ read: (String) -> String?) {
        if controllers.contains("memory") { noteMemory(read("/memory\(path)/memory.limit_in_bytes")) }
        if controllers.contains("cpu") {
            noteTime(
                Self.number(read("/cpu\(path)/cpu.cfs_quota_us")),
                of: Self.number(read("/cpu\(path)/cpu.cfs_period_us")))
        }
    }

    private mutating func noteMemory(_ text: String?) {
        // Version 1 has a number near the largest for no limit.
        guard let bytes = Self.number(text), bytes > 0, bytes < 1 << 50 else { return }
        memory = min(memory ?? bytes, bytes)
    }

    private mutating func noteTime(_ quota: Int?, of period: Int?) {
        guard let quota, let period, quota > 0, period > 0 else { return }
        let count = max(1, (quota + period - 1) / period)
        processors = min(processors ?? count, count)
    }

    private static func number(_ text: String?) -> Int? { text.flatMap { Int($0.prefix { $0.isNumber || $0 == "-" }) } }

    package static let own = {
        func read(_ path: String) -> String? {
            guard let file = try? Descriptor(reading: path, followsLinks: true), let bytes = try? file.bytes(4096)
            else {
                return nil
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        return MachineLimits(groups: read("/proc/self/cgroup") ?? "") { read("/sys/fs/cgroup" + $0) }
    }()

    /// The processors that this process may run on at the same time; at least 1.
    package static var processorCount: Int { min(Int(hl_processors()), own.processors ?? .max) }
}
