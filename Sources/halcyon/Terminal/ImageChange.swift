internal import ArgumentParser
internal import ImageEngine

/// The arguments that say how an image is changed. Processors take sizes in pixels, and a format by its name: what is given
/// otherwise is found out from the image as it is.
struct ImageChange: ParsableArguments {
    @Option(
        parsing: .unconditional, help: "Crop it to its middle, as WIDTHxHEIGHT in pixels. Done first.",
        transform: PixelBox.init(parsing:))
    var crop: PixelBox?

    @Option(
        parsing: .unconditional,
        help: """
            Make it smaller: WIDTH or WIDTHx, xHEIGHT, WIDTHxHEIGHT (a box that it fits into) in pixels, or 50%. Its \
            proportions are kept.
            """, transform: ImageSize.init(parsing:))
    var resize: ImageSize?

    @Option(parsing: .unconditional, help: "Rotate it clockwise by that many degrees. Done after --resize.")
    var rotate: Double?

    @Option(
        help: """
            More processors, as in trim/sharpen:2 (a processor's name, then its values): after --rotate, before \
            --format. halcyon discover lists all, with examples.
            """)
    var processors: String?

    @Option(help: "The format to turn it into. Default: as the name of --output ends.", completion: .list(Self.formats))
    var format: String?

    @Option(parsing: .unconditional, help: "The quality, 1 to 100, on the scale of JPEG in every format.")
    var quality: Int?

    /// The formats that are made.
    private static var formats: [String] { EncodedFormat.allCases.map(\.rawValue) }

    func validate() throws {
        if let quality, !(1...100).contains(quality) {
            throw ValidationError("--quality takes a number from 1 to 100, not \(quality).")
        }
        if let format, target.map(Self.formats.contains) != true {
            throw ValidationError("--format takes one of \(Self.formats.joined(separator: ", ")), not \(format).")
        }
    }

    /// The name of the format to turn it into: of names of files, such as jpg, too.
    private var target: String? { format.flatMap(ImageFormat.init(fileExtension:))?.rawValue }

    /// The processors, as far as they can be told before the image is there; `nil` when they cannot.
    ///
    /// - Parameter ending: The format that the name of the output tells.
    func steps(ending: ImageFormat?) -> String? {
        if resize?.isRelative == true { return nil }
        // A copy that has the format already is not encoded anew.
        if ending != nil, keepsImage { return nil }
        return text(ending: ending, size: (0, 0))
    }

    /// The processors for an image of that format and size; empty when it may stay as it is.
    func steps(ending: ImageFormat?, for found: String?, _ size: (width: Int, height: Int)?) -> String {
        if keepsImage, ending?.rawValue == found { return "" }
        guard let size else { return text(ending: ending, size: (0, 0)) }
        // Of what is cut out of it, where that comes first.
        let cut = crop.map { (min($0.width, size.width), min($0.height, size.height)) }
        return text(ending: ending, size: cut ?? size)
    }

    /// `true` when nothing but the name of the output asks for a change.
    private var keepsImage: Bool {
        crop == nil && resize == nil && rotate == nil && processors == nil && format == nil && quality == nil
    }

    /// The processors in their compact text, in the order in which they are applied.
    private func text(ending: ImageFormat?, size: (width: Int, height: Int)) -> String {
        let encoding = (target ?? ending?.rawValue).map { format in
            "format:to=" + Self.escaped(format) + (quality.map { ",quality=\($0)" } ?? "")
        }
        let steps = [
            crop.map { "crop:\($0)" }, resize?.step(of: size), rotate.map { "rotate:degrees=\($0)" }, processors,
            encoding,
        ]
        return steps.compactMap { $0 }.joined(separator: "/")
    }

    /// A value with the bytes that have a meaning in the compact text as `%` and two digits.
    private static func escaped(_ value: String) -> String {
        value.utf8.reduce(into: "") { text, byte in
            let isPlain = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            text += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}

/// A width and a height in pixels, written `320x240`.
struct PixelBox: CustomStringConvertible {
    let width: Int
    let height: Int

    init(parsing argument: String) throws {
        guard case .box(let box)? = ImageSize(argument) else {
            throw ValidationError("It takes WIDTHxHEIGHT in whole pixels, each from 1 to 65535.")
        }
        self = box
    }

    fileprivate init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    var description: String { "\(width)x\(height)" }
}

/// A size that an image is to have: one side, a box that it fits into, or a part of its own size.
enum ImageSize {
    case width(Int)
    case height(Int)
    case box(PixelBox)
    case percent(Double)

    init(parsing argument: String) throws {
        guard let size = ImageSize(argument) else {
            throw ValidationError(
                "It takes WIDTH, xHEIGHT or WIDTHxHEIGHT in whole pixels from 1 to 65535, or a part up to 100%.")
        }
        self = size
    }

    fileprivate init?(_ argument: String) {
        let argument = argument.lowercased()
        if argument.hasSuffix("%") {
            guard let number = Double(argument.dropLast()), number > 0, number <= 100 else { return nil }
            self = .percent(number)
            return
        }
        let parts = argument.split(separator: "x", omittingEmptySubsequences: false)
        let sides = parts.map { part in Int(part).flatMap { $0 > 0 && $0 <= 65_535 ? $0 : nil } }
        switch (parts.count, sides.first ?? nil, sides.last ?? nil) {
        case (1, let width?, _): self = .width(width)
        case (2, let width?, let height?): self = .box(PixelBox(width: width, height: height))
        case (2, let width?, nil) where parts[1].isEmpty: self = .width(width)
        case (2, nil, let height?) where parts[0].isEmpty: self = .height(height)
        default: return nil
        }
    }

    /// `true` when it depends on the size of the image.
    var isRelative: Bool { if case .percent = self { true } else { false } }

    /// The processor, which never enlarges.
    ///
    /// - Parameter size: The size of the image.
    func step(of size: (width: Int, height: Int)) -> String {
        switch self {
        case .width(let width): return "resize:\(width)x"
        case .height(let height): return "resize:x\(height)"
        case .box(let box): return "downsample:\(box)"
        case .percent(let percent):
            func part(_ side: Int) -> Int { max(Int((Double(side) * percent / 100).rounded()), 1) }
            return "resize:\(part(size.width))x\(part(size.height))"
        }
    }
}
