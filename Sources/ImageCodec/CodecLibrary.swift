internal import CVips
internal import Glibc
internal import ImageRecipes

/// libvips in this process: started once; its plug-ins are opened when an image needs them.
struct CodecLibrary {
    private var opened: [String: Bool] = [:]

    /// Starts the library; nil when that fails.
    init?() {
        guard hv_start() == 0 else { return nil }
    }

    /// `true` when the format can be decoded; opens its plug-in if necessary.
    mutating func canRead(_ format: SourceFormat) -> Bool {
        guard let plugin = format.plugin else { return true }
        if let known = opened[plugin] { return known }
        let works = hv_open_plugin(plugin) == 0 && (format == .jxl || hv_has("\(plugin)load_source") != 0)
        opened[plugin] = works
        return works
    }

    /// `true` when the format can be encoded; opens its plug-in if necessary.
    mutating func canWrite(_ format: EncodedFormat) -> Bool {
        guard let plugin = SourceFormat(rawValue: format.rawValue)?.plugin else { return true }
        if format == .jxl { return canRead(.jxl) }
        _ = canRead(.avif)
        return hv_has("\(plugin)save_target") != 0
    }

    /// The capabilities of this machine's library. Opens no plug-in, only checks that its file exists.
    var facts: CodecFacts {
        let reads = SourceFormat.allCases.filter { $0.plugin.map { hv_has_plugin($0) != 0 } ?? true }
        let writes = EncodedFormat.allCases.filter { format in
            SourceFormat(rawValue: format.rawValue)?.plugin.map { hv_has_plugin($0) != 0 } ?? true
        }
        return CodecFacts(decodes: reads.map(\.rawValue), encodes: writes.map(\.rawValue))
    }
}
