internal import ArgumentParser
internal import ImageEngine
internal import JSONRPC

/// The options that choose images of a cache: those that match all that are given.
struct EntryFilter: ParsableArguments {
    @Option(help: "Only those whose keys begin with this.")
    var prefix: String?

    @Option(help: "Only those from this host.")
    var host: String?

    @Option(help: "Only those of this format.", completion: .list(ImageFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(parsing: .unconditional, help: "Only those stored at least that many seconds ago.")
    var minAge: Int?

    @Option(parsing: .unconditional, help: "Only those stored at most that many seconds ago.")
    var maxAge: Int?

    /// `true` when no option is given.
    var isEmpty: Bool { prefix == nil && host == nil && format == nil && minAge == nil && maxAge == nil }

    func validate() throws {
        for (flag, age) in [("--min-age", minAge), ("--max-age", maxAge)] {
            if let age, age < 0 { throw ValidationError("\(flag) takes a number of seconds, 0 or more, not \(age).") }
        }
        if let format, ImageFormat(fileExtension: format) == nil {
            throw ValidationError(
                "--format takes one of \(ImageFormat.allCases.map(\.rawValue).joined(separator: ", ")), not \(format).")
        }
    }

    /// Writes the parameters of the request.
    func write(to params: inout JSONWriter) {
        if let prefix { params.field("prefix", prefix) }
        if let host { params.field("host", host) }
        if let format = format.flatMap(ImageFormat.init(fileExtension:)) { params.field("format", format.rawValue) }
        if let minAge { params.field("minAge", minAge) }
        if let maxAge { params.field("maxAge", maxAge) }
    }
}
