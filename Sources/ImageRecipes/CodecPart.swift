/// A part of the codec library that a worker prepares only when it is asked to when it starts, because that takes long:
/// afterwards the worker can open no file.
public enum CodecPart: String, Hashable, Sendable, CaseIterable {
    /// AVIF and HEIC.
    case heif
    /// JPEG XL.
    case jxl
    /// SVG, with the fonts of the system.
    case svg
    /// PDF, by a plug-in with another name, with the fonts of the system.
    case pdf = "poppler"

    /// The part that a format needs, by the format's name; `nil` when it needs none.
    public init?(format: String) {
        switch format {
        case "avif", "heic": self = .heif
        case "jxl": self = .jxl
        case "svg": self = .svg
        case "pdf": self = .pdf
        default: return nil
        }
    }
}

extension RenderRequest {
    /// The parts that the source and the outputs need.
    public var parts: Set<CodecPart> {
        let written = outputs.compactMap { output in
            if case .format(let format, _) = output.rule { format.rawValue } else { nil }
        }
        return Set(([format] + written).compactMap { CodecPart(format: $0) })
    }

    /// The number of descriptors that follow the request: of the source, and of each output with a file.
    public var descriptorCount: Int { 1 + outputs.count { $0.rule != .nothing } }
}
