internal import ArgumentParser
internal import ImageServer

/// The flags of the server, one for each ``ServerSetting``. Each may also be set in the environment and in the
/// configuration file.
///
/// ArgumentParser finds the options of a type in its mirror and decodes their values by name. The mirror and the
/// initializer here are made from the table of settings, so that no flag is written down a second time.
struct ServeOptions: ParsableArguments, CustomReflectable {
    /// The names that the table of settings gives to values.
    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The name of the flag for the configuration file itself.
    private static let config = Key(stringValue: "config")

    /// The configuration file that the command line names.
    private var file: String?
    /// The values on the command line, by the names of the settings.
    private var given: [String: String] = [:]

    init() {}

    /// Reads a command line that starts the server, with or without the name of the command, and sets flags as most do: each
    /// once and in full, each value a word of its own. `nil` for every other, which ArgumentParser judges; it reads these in
    /// the same way.
    init?(plain words: [String]) {
        var rest = words.first == ServeCommand.configuration.commandName ? words.dropFirst() : words[...]
        var given: [String: String] = [:]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { return nil }
            let flag = word.dropFirst(2)
            let setting = ServerSetting.accepted.first { $0.flag == flag }
            guard let name = setting?.name ?? (flag == Self.config.stringValue ? String(flag) : nil), given[name] == nil
            else { return nil }
            if setting?.form == .boolean {
                given[name] = "true"
            } else {
                guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("-") else { return nil }
                given[name] = value
            }
        }
        file = given.removeValue(forKey: Self.config.stringValue)
        self.given = given
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        file = try values.decode(Option<String?>.self, forKey: Self.config).wrappedValue
        for setting in ServerSetting.accepted {
            let key = Key(stringValue: setting.name)
            if setting.form == .boolean {
                if try values.decode(Flag<Bool>.self, forKey: key).wrappedValue { given[setting.name] = "true" }
            } else {
                given[setting.name] = try values.decode(Option<String?>.self, forKey: key).wrappedValue
            }
        }
    }

    var customMirror: Mirror { Mirror(self, children: Self.definitions.map { ($0, $1 as Any) }) }

    /// The options by the names of their values. Made once, because ArgumentParser asks for them dozens of times.
    private static let definitions: [(String, any Sendable)] = {
        let help: ArgumentHelp = """
            The configuration file. Default: $XDG_CONFIG_HOME/halcyon/config.json, else \
            ~/.config/halcyon/config.json, if it exists.
            """
        let file = Option<String?>(help: help, completion: .file())
        return [(config.stringValue, file)] + ServerSetting.accepted.map { ($0.name, $0.definition) }
    }()

    /// The settings of a server.
    func settings() throws -> ServerSettings { try ServerSettings(given: given, file: file) }

    /// The settings of a command, which lives for a moment: no cleaning of the caches unless a flag asks for it.
    ///
    /// - Parameter isVerbose: `true` for a log of all that is done, unless a flag says otherwise.
    func commandSettings(isVerbose: Bool = false) throws -> ServerSettings {
        var usual = ["cleanInterval": "0"]
        if isVerbose { usual["logLevel"] = "debug" }
        return try ServerSettings(given: usual.merging(given) { _, given in given }, file: file)
    }

    /// The settings of the server of an agent, which chooses the URLs: public networks only, unless a flag says otherwise.
    func agentSettings() throws -> ServerSettings {
        try ServerSettings(given: ["networkPolicy": "public"].merging(given) { _, given in given }, file: file)
    }

    /// The settings of a server, but for some values, by the names of the settings.
    func settings(overriding values: [String: String]) throws -> ServerSettings {
        try ServerSettings(given: given.merging(values) { $1 }, file: file)
    }
}

extension ServerSetting {
    /// The flag or option of ArgumentParser for this setting.
    fileprivate var definition: any Sendable {
        guard form != .boolean else { return Flag<Bool>(wrappedValue: false, name: .customLong(flag), help: "\(help)") }
        let help = ArgumentHelp(
            "\(help) Default: \(defaultText).", valueName: form.placeholder, visibility: isFormer ? .hidden : .default)
        // The value may begin with a dash: a negative number is refused with the range that is allowed.
        return Option<String?>(
            name: .customLong(flag), parsing: form.isNumeric ? .unconditional : .next, help: help,
            completion: form.completion)
    }
}

extension SettingForm {
    /// The completions that a shell offers for the value.
    fileprivate var completion: CompletionKind? {
        switch self {
        case .choice(let choices): .list(choices)
        case .file: .file()
        case .folder: .directory
        case .boolean, .integer, .number, .text: nil
        }
    }
}
