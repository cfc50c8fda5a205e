internal import ImageEngine
internal import JSONRPC

/// The type of a setting's value: its form, how it is read from a text, and how it is shown.
struct SettingType<Value: Sendable>: Sendable {
    /// Reads a text. Paths in a file must be absolute: it is not known what a relative one there is relative to.
    typealias Read = @Sendable (_ text: String, _ isInFile: Bool) throws(SettingProblem) -> Value

    let form: SettingForm
    let read: Read
    /// The value as JSON; null when there is none.
    let literal: @Sendable (Value) -> JSONLiteral
}

/// A problem with the value of a setting.
package struct SettingProblem: Error, Equatable {
    /// The end of a sentence that begins with the name of the setting, such as `must be true or false, not "x"`.
    package let predicate: String

    init(_ predicate: String) { self.predicate = predicate }
}

extension SettingType where Value: SettingNumber {
    /// An integer within `bounds`.
    static func integer(_ bounds: ClosedRange<Int>, _ unit: String = "n") -> SettingType {
        SettingType(form: .integer(unit: unit)) { (text, _) throws(SettingProblem) in
            guard let number = Int(text), bounds.contains(number) else {
                throw SettingProblem("must be an integer\(bounds.words), not \(text.quoted)")
            }
            return Value(number)
        } literal: {
            $0.literal
        }
    }
}

extension ClosedRange<Int> {
    /// The end of a phrase that names a number within these bounds.
    fileprivate var words: String {
        upperBound == .max ? ", at least \(lowerBound)" : " from \(lowerBound) to \(upperBound)"
    }
}

extension SettingType<Int> {
    /// A number of bytes within `bounds`; see ``ByteSize``.
    static func bytes(_ bounds: ClosedRange<Int>) -> SettingType {
        SettingType(form: .integer(unit: SettingForm.bytes)) { (text, _) throws(SettingProblem) in
            guard let number = ByteSize.bytes(text), bounds.contains(number) else {
                throw SettingProblem(
                    "must be a number of bytes\(bounds.words), such as 500000000, 500MB or 2GiB, not \(text.quoted)"
                )
            }
            return number
        } literal: {
            $0.literal
        }
    }
}

extension SettingType<Double> {
    /// A number of seconds that is not below `smallest`. More than a billion are a billion, which clocks can count.
    static func seconds(atLeast smallest: Int) -> SettingType {
        SettingType(form: .number(unit: "seconds")) { (text, _) throws(SettingProblem) in
            guard let number = Double(text), number.isFinite, number >= Double(smallest) else {
                throw SettingProblem("must be a number, at least \(smallest), not \(text.quoted)")
            }
            return min(number, 1e9)
        } literal: {
            $0.literal
        }
    }

    /// A number of seconds above 0, at most `longest`.
    static func seconds(upTo longest: Int) -> SettingType {
        SettingType(form: .number(unit: "seconds")) { (text, _) throws(SettingProblem) in
            guard let number = Double(text), number > 0, number <= Double(longest) else {
                throw SettingProblem("must be a number above 0, at most \(longest), not \(text.quoted)")
            }
            return number
        } literal: {
            $0.literal
        }
    }

    /// A number of seconds that is written in whole milliseconds.
    static let milliseconds = SettingType(form: .integer(unit: "milliseconds")) {
        (text, isInFile) throws(SettingProblem) in
        min(Double(try SettingType<Int>.integer(0 ... .max).read(text, isInFile)) / 1000, 1e9)
    } literal: {
        ($0 * 1000).literal
    }
}

extension SettingType<Bool> {
    /// `true` or `false`.
    static let boolean = SettingType(form: .boolean) { (text, _) throws(SettingProblem) in
        guard let value = Bool(text) else { throw SettingProblem("must be true or false, not \(text.quoted)") }
        return value
    } literal: {
        .boolean($0)
    }
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
    /// One of the names of an enumeration.
    static var choice: SettingType {
        choices(Value.allCases.map { ($0.rawValue, $0) }, name: { $0.rawValue })
    }
}

extension SettingType {
    /// One of several names.
    ///
    /// - Parameter name: The name of a value.
    private static func choices(
        _ choices: [(name: String, value: Value)], name: @escaping @Sendable (Value) -> String
    ) -> SettingType {
        let names = choices.map(\.name)
        return SettingType(form: .choice(names)) { (text, _) throws(SettingProblem) in
            if let choice = choices.first(where: { $0.name == text }) { return choice.value }
            let all =
                names.count > 3
                ? "one of \(names.joined(separator: ", "))"
                : "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
            throw SettingProblem("must be \(all), not \(text.quoted)")
        } literal: {
            .string(name($0))
        }
    }
}

extension SettingType<MessageFraming?> {
    /// `auto` for `nil`, or the name of a framing.
    static let framing = choices([("auto", nil)] + MessageFraming.allCases.map { ($0.rawValue, $0) }) {
        $0?.rawValue ?? "auto"
    }
}

extension SettingType<String> {
    /// A text without control characters, such as the value of a header field.
    static let headerValue = SettingType(form: .text("text")) { (text, _) throws(SettingProblem) in
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw SettingProblem("must not contain control characters")
        }
        return text
    } literal: {
        .string($0)
    }
}

extension SettingType<String?> {
    /// The path of a file, made absolute; an empty one names nothing.
    static let file = path(.file)
    /// The path of a folder, made absolute; an empty one names nothing.
    static let folder = path(.folder)

    private static func path(_ form: SettingForm) -> SettingType {
        SettingType(form: form) { (text, isInFile) throws(SettingProblem) in
            guard !isInFile || text.hasPrefix("/") else {
                throw SettingProblem("must be an absolute path, not \(text.quoted)")
            }
            guard !text.utf8.contains(0) else {
                throw SettingProblem("must be a path, which has no NUL character: \(text.quoted)")
            }
            return text.isEmpty ? nil : absolutePath(text)
        } literal: {
            $0.map(JSONLiteral.string) ?? .null
        }
    }
}
