internal import CVips
internal import ImageFormats
internal import ImageRecipes

/// libvips in this process: started once, with the parts that will be needed.
struct CodecLibrary {
    private let prepared: Set<CodecPart>
    /// The capabilities of this machine's library: also those of parts that were not prepared, if their files exist.
    let facts: CodecFacts

    /// Starts the library and loads everything that it reads from files; nil when that fails.
    init?(_ parts: Set<CodecPart>) {
        guard hv_start() == 0 else { return nil }
        prepared = parts.filter { part in
            switch part {
            case .heif: hv_open_plugin(part.rawValue) == 0 && hv_has("heifload_source") != 0
            case .jxl: hv_open_plugin(part.rawValue) == 0
            case .svg: Self.prepareDrawings()
            // Text may be in fonts of the system.
            case .pdf:
                Self.prepareDrawings() && hv_open_plugin(part.rawValue) == 0 && hv_has("pdfload_source") != 0
            }
        }
        facts = CodecFacts(
            decodes: ImageFormat.allCases.filter { Self.exists($0.part) && Self.has($0.operation) }.map(\.rawValue),
            encodes: EncodedFormat.allCases.filter { Self.exists(CodecPart(format: $0.rawValue)) }.map(\.rawValue))
    }

    private static func prepareDrawings() -> Bool {
        hv_prepare_drawings()
        return true
    }

    /// `true` when the files of a part exist; drawings are not a plug-in.
    private static func exists(_ part: CodecPart?) -> Bool {
        part.map { $0 == .svg || hv_has_plugin($0.rawValue) != 0 } ?? true
    }

    private static func has(_ operation: String?) -> Bool { operation.map { hv_has($0) != 0 } ?? true }

    /// `true` when the format can be decoded.
    func canRead(_ format: ImageFormat) -> Bool {
        (format.part.map(prepared.contains) ?? true) && Self.has(format.operation)
    }

    /// `true` when the format can be encoded.
    func canWrite(_ format: EncodedFormat) -> Bool {
        guard let part = CodecPart(format: format.rawValue) else { return true }
        return prepared.contains(part) && (part == .jxl || hv_has("\(part.rawValue)save_target") != 0)
    }
}
