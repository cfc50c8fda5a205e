internal import JSONRPC
internal import ImageEngine

/// A place in settings that a value can be read from and written to.
typealias SettingPlace<Settings, Value> = any WritableKeyPath<Settings, Value> & Sendable

/// A setting of the server's process: one value that everything about it is made from.
///
/// Command line, help, completions, manual page, environment, configuration file, `halcyon config`, `configure` and the
/// tables of the documentation all read ``all``; what accepts former names too reads ``accepted``. Every start makes all
/// of them, and only sets or tells a few: their places, which are costly to make, are made when they are used.
package struct ServerSetting: Sendable {
    /// The name in the configuration file, such as `diskLimit`.
    package let name: String
    /// The form of the value.
    package let form: SettingForm
    /// One sentence that says what the setting is or does.
    package let help: String
    /// The default in words, where no constant says it.
    private let defaultWords: String?
    /// The consequence of a file that the setting names and that cannot be read; `nil` when no file needs to be there.
    package let withoutFile: String?
    /// The setting of `configure` for the same value of the downloader; `nil` when clients cannot change it there.
    var downloaderField: SettingField<Downloader>? { makeDownloaderField?() }
    private let makeDownloaderField: (@Sendable () -> SettingField<Downloader>)?
    /// The setting under names that it once had, which are accepted like its own, and hidden in the help.
    private(set) var former: [ServerSetting] = []
    /// `true` when the name is a former one.
    package private(set) var isFormer = false
    /// `true` when `config` shows the value as a setting of caches, under another name.
    let isOfCaches: Bool
    /// Reads a text, and adds the value to what a source says.
    private let add: @Sendable (_ text: String, _ isInFile: Bool, inout CacheLayer) throws(SettingProblem) -> Void
    /// The value in force as JSON; null when there is none.
    let value: @Sendable (ServerConfiguration) -> JSONLiteral

    typealias Downloader = ImageDownloader.Configuration

    /// The name on the command line without the dashes, such as `disk-limit`.
    package var flag: String { joined(by: UInt8(ascii: "-")) { $0 | 0x20 } }

    /// The name in the environment, such as `HALCYON_DISK_LIMIT`.
    package var variable: String { "HALCYON_" + joined(by: UInt8(ascii: "_")) { $0 & 0xDF } }

    /// The words of the name with `separator` between them; each but the first begins with a capital letter there.
    /// Every start makes the names of all settings, so this works on bytes.
    private func joined(by separator: UInt8, letter: (UInt8) -> UInt8) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if byte & 0x20 == 0 { bytes.append(separator) }
            bytes.append(letter(byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The default for people: `none`, the words or the value, for bytes in a larger unit too.
    package var defaultText: String {
        if let defaultWords { return defaultWords }
        let value = value(ServerConfiguration())
        guard case .integer(let bytes) = value, form == .integer(unit: SettingForm.bytes) else {
            return value.text ?? "none"
        }
        let unit = [("GiB", 1 << 30), ("MiB", 1 << 20)].first { bytes > 0 && bytes % $0.1 == 0 }
        return "\(bytes)" + (unit.map { " (\(bytes / $0.1) \($0.0))" } ?? "")
    }

    /// The value in force as a text; `nil` when there is none.
    package func text(in configuration: ServerConfiguration) -> String? { value(configuration).text }

    /// Adds a value to what a source says.
    ///
    /// - Parameter source: The source of the text.
    /// - Throws: The problem with the text; then nothing has changed.
    package func set(_ text: String, in sources: inout SettingSources, from source: SettingSource)
        throws(SettingProblem)
    {
        try add(text, source == .file, &sources[source])
    }
}

extension ServerSetting {
    /// A setting of the process at `place`.
    ///
    /// - Parameter former: The name that it once had, and the type of its value under that name.
    init<Value>(
        _ name: String, _ type: SettingType<Value>, _ help: String, default words: String? = nil,
        withoutFile: String? = nil, former: (name: String, type: SettingType<Value>)? = nil,
        _ place: @autoclosure @escaping @Sendable () -> SettingPlace<ServerConfiguration, Value>
    ) {
        func setting(_ written: String, _ type: SettingType<Value>) -> ServerSetting {
            ServerSetting(
                name: written, form: type.form, help: help, defaultWords: words, withoutFile: withoutFile,
                makeDownloaderField: nil, isOfCaches: false
            ) { (text, isInFile, layer) throws(SettingProblem) in
                let value = try type.read(text, isInFile)
                layer.process.set(name) { $0[keyPath: place()] = value }
            } value: {
                type.literal($0[keyPath: place()])
            }
        }
        self = setting(name, type)
        guard let former else { return }
        var alias = setting(former.name, former.type)
        alias.isFormer = true
        self.former = [alias]
    }

    /// A setting of the downloader at `place`, which clients may change too.
    ///
    /// - Parameter field: Makes the setting of `configure`, within the bounds of `type`, from name, help and place.
    init<Value>(
        _ name: String, _ type: SettingType<Value>, _ help: String,
        downloader place: @autoclosure @escaping @Sendable () -> SettingPlace<Downloader, Value>,
        field: @escaping @Sendable (String, String, SettingPlace<Downloader, Value>) -> SettingField<Downloader>
    ) {
        self.init(
            name: name, form: type.form, help: help, defaultWords: nil, withoutFile: nil,
            makeDownloaderField: { field(name, help, place()) }, isOfCaches: false
        ) { (text, isInFile, layer) throws(SettingProblem) in
            let value = try type.read(text, isInFile)
            layer.downloader.set(name) { $0[keyPath: place()] = value }
        } value: {
            type.literal($0.engine.downloader[keyPath: place()])
        }
    }

    /// A setting of the downloader that is an integer within `bounds`.
    ///
    /// - Parameter summary: The words for it in `configure`, if they are others.
    init<Value: SettingNumber>(
        _ name: String, _ bounds: ClosedRange<Int>, _ help: String, summary: String? = nil,
        downloader place: @autoclosure @escaping @Sendable () -> SettingPlace<Downloader, Value>
    ) {
        self.init(name, .integer(bounds), help, downloader: place()) {
            .integer($0, summary ?? $1, from: bounds.lowerBound, to: bounds.upperBound, $2)
        }
    }

    /// A setting of all caches that has another name among the settings of a cache.
    ///
    /// - Parameter change: Adds the value to a change of caches.
    init<Value>(
        _ name: String, _ type: SettingType<Value>, _ help: String,
        caches place: @autoclosure @escaping @Sendable () -> SettingPlace<ImageCache.Configuration, Value>,
        change: @escaping @Sendable (inout CacheChange, Value) -> Void
    ) {
        self.init(
            name: name, form: type.form, help: help, defaultWords: nil, withoutFile: nil, makeDownloaderField: nil,
            isOfCaches: true
        ) { (text, isInFile, layer) throws(SettingProblem) in
            change(&layer.general, try type.read(text, isInFile))
        } value: {
            type.literal($0.engine.defaults[keyPath: place()])
        }
    }
}
