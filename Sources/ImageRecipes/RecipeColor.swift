/// A colour in sRGB with eight bits per channel, not premultiplied.
public struct RecipeColor: Hashable, Sendable {
    /// Red, 0…255.
    public let red: UInt8
    /// Green, 0…255.
    public let green: UInt8
    /// Blue, 0…255.
    public let blue: UInt8
    /// Alpha: 0 for transparent, 255 for opaque.
    public let alpha: UInt8

    /// A colour with the given channels; opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// The description of the accepted texts, for error messages.
    public static let expectation =
        "a colour as \"#rgb\", \"#rgba\", \"#rrggbb\", \"#rrggbbaa\", \"black\", \"white\" or \"transparent\""

    /// The colour of a text, in any letter case; `nil` for a text that is not a colour.
    public init?(_ text: String) {
        switch text.lowercased() {
        case "black": self.init(red: 0, green: 0, blue: 0)
        case "white": self.init(red: 255, green: 255, blue: 255)
        case "transparent": self.init(red: 0, green: 0, blue: 0, alpha: 0)
        default: self.init(hexadecimal: text)
        }
    }

    private init?(hexadecimal text: String) {
        var bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "#") else { return nil }
        bytes.removeFirst()
        var digits: [UInt8] = []
        for byte in bytes {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            digits.append(UInt8(digit))
        }
        if digits.count == 3 || digits.count == 4 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        let channels = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.init(
            red: channels[0], green: channels[1], blue: channels[2], alpha: channels.count == 4 ? channels[3] : 255)
    }

    /// The text `#rrggbb`, or `#rrggbbaa` when the colour is not opaque, in lower case.
    public var text: String {
        let channels = alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]
        return channels.reduce(into: "#") { text, channel in
            text += (channel < 16 ? "0" : "") + String(channel, radix: 16)
        }
    }
}
