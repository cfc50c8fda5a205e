internal import ImageServer

extension ServeOptions {
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
        self.init(file: given.removeValue(forKey: Self.config.stringValue), given: given)
    }
}
