internal import JSONRPC

/// The form of a setting's value, which its help, its completions and the configuration file follow.
package enum SettingForm: Sendable, Equatable {
    /// `true` or `false`; on the command line a flag without a value.
    case boolean
    /// An integer of that unit.
    case integer(unit: String)
    /// A number of that unit, with or without a fraction.
    case number(unit: String)
    /// One of these words.
    case choice([String])
    /// The path of a file.
    case file
    /// The path of a folder.
    case folder
    /// Any other text, with one word that says what it is.
    case text(String)

    /// The unit of sizes, which are written with larger ones too; see ``ByteSize``.
    static let bytes = "bytes"

    /// `true` for an integer or a number.
    package var isNumeric: Bool {
        switch self {
        case .integer, .number: true
        case .boolean, .choice, .file, .folder, .text: false
        }
    }

    /// The words for the value in the help: its unit, its choices or its kind.
    package var placeholder: String {
        switch self {
        case .boolean: "boolean"
        case .integer(let unit), .number(let unit): unit
        case .choice(let choices): choices.joined(separator: "|")
        case .file: "file"
        case .folder: "folder"
        case .text(let kind): kind
        }
    }

    /// The text of a value in the configuration file, which has numbers and booleans as JSON does.
    func text(of view: JSONView) throws(Mismatch) -> String {
        switch self {
        case .boolean:
            guard let value = view.boolean else { throw .expected("a boolean", view) }
            return String(value)
        case .integer(let unit):
            if unit == Self.bytes, let size = view.string { return size }
            guard let value = view.integer else { throw .expected("an integer", view) }
            return String(value)
        case .number:
            guard let value = view.number else { throw .expected("a number", view) }
            return value.shortest
        case .choice, .file, .folder, .text:
            guard let value = view.string else { throw .expected("a string", view) }
            return value
        }
    }
}
