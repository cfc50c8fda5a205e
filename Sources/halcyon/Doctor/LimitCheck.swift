internal import Glibc
internal import ImageEngine
internal import Platform
internal import Terminal

/// Tells what the machine lets this process use, and the limits that the settings make of it.
struct LimitCheck {
    private let engine: EngineConfiguration

    init(_ engine: EngineConfiguration) { self.engine = engine }

    func run(_ report: inout DoctorReport) {
        let machine = MachineLimits.own
        report.add("limits", "processors", .ok, "\(MachineLimits.processorCount)")
        report.add("limits", "memory of the group", .ok, machine.memory.map(ByteText.text) ?? "no limit")
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        // A thousand connections, and as many files.
        let wanted = 4096
        let isLow = files.rlim_cur < wanted
        report.add(
            "limits", "open files", isLow ? .note : .ok, "\(files.rlim_cur)",
            advice: isLow ? "For many downloads at a time raise the limit: ulimit -n \(wanted)." : nil)
        let space = AddressSpace.own
        report.add(
            "limits", "address space", space.complaint == nil ? .ok : .missing,
            space.complaint ?? space.limit.map { ByteText.text(Int(clamping: $0)) } ?? "no limit")
        report.add("limits", "memory tier", .ok, ByteText.text(engine.defaults.memory.costLimit))
        let disk = engine.defaults.disk.bytesLimit
        report.add("limits", "disk tier", .ok, disk == 0 ? "no limit" : ByteText.text(disk))
        let pixels = ByteText.text(engine.codec.memoryBytes)
        report.add("limits", "codec workers", .ok, "\(engine.codec.maxWorkers), \(pixels) of pixels")
    }
}
