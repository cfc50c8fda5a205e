internal import Platform

/// The variables of the environment that lead to the keys of AWS. A plain value.
package struct AWSEnvironment: Sendable, Hashable {
    private var values: [String: String] = [:]

    private static let names = [
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
        "AWS_PROFILE",
        "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "HOME",
    ]

    /// No variables.
    package init() {}

    /// Reads the variables.
    package init(_ variable: (String) -> String?) {
        for name in Self.names { values[name] = variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    subscript(name: String) -> String? { values[name] }

    /// The path that a variable gives, or one in the home folder.
    func path(_ name: String, orAtHome path: String) -> String? {
        guard let given = values[name] else { return values["HOME"].map { $0 + "/" + path } }
        guard given.hasPrefix("~/"), let home = values["HOME"] else { return given }
        return home + given.dropFirst()
    }
}

/// What the usual places of AWS say: the environment, and a profile of its two files. Neither roles nor the metadata of
/// instances are asked.
struct AWSProfile: Sendable {
    private(set) var credentials: AWSCredentials?
    private(set) var region: String?
    private(set) var endpoint: String?
    /// The reason why there are no credentials, if somebody meant some.
    private(set) var problem: String?
    /// The file that cannot be read, and may name the region; `nil` when the environment does.
    private(set) var unreadable: String?

    /// Reads the files that the variables name.
    init(_ environment: AWSEnvironment) {
        let name = environment["AWS_PROFILE"] ?? "default"
        var values: [String: String] = [:]
        var isKnown = false
        // What the file of credentials says counts first.
        for (variable, path, sections) in [
            (
                "AWS_CONFIG_FILE", ".aws/config",
                name == "default" ? ["default", "profile default"] : ["profile \(name)"]
            ),
            ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", [name]),
        ] {
            guard let path = environment.path(variable, orAtHome: path) else { continue }
            do {
                let text = String(decoding: try CredentialFile.bytes(path), as: UTF8.self)
                for section in sections {
                    guard let found = Self.section(section, of: text) else { continue }
                    isKnown = true
                    values.merge(found) { $1 }
                }
            } catch {
                let isMissing = (error as? SystemError)?.isMissing == true
                if isMissing, environment[variable] == nil { continue }
                problem = "\(path), the file of \(variable), cannot be read"
                // One that is not there names no region.
                if !isMissing { unreadable = problem }
            }
        }
        let ownRegion = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"]
        if ownRegion != nil { unreadable = nil }
        region = ownRegion ?? values["region"]
        endpoint = environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"] ?? values["endpoint_url"]
        let own = (environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"])
        switch own {
        case (let keyID?, let secret?):
            credentials = AWSCredentials(keyID: keyID, secret: secret, token: environment["AWS_SESSION_TOKEN"])
        case (nil, nil):
            if let keyID = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] {
                credentials = AWSCredentials(keyID: keyID, secret: secret, token: values["aws_session_token"])
            } else if environment["AWS_PROFILE"] != nil, !isKnown {
                problem = problem ?? "there is no profile of the name that AWS_PROFILE has"
            } else if values.keys.contains(where: {
                $0.hasPrefix("sso_") || ["credential_process", "role_arn"].contains($0)
            }) {
                problem =
                    "the keys of the profile come from a role, a command or SSO, which is not supported (aws configure export-credentials --format env prints them as variables)"
            }
        default: problem = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set"
        }
        if let all = credentials, [all.keyID, all.secret, all.token ?? ""].contains(where: Self.isUnsendable) {
            (credentials, problem) = (nil, "a key of AWS has a space or a control character in it")
        }
        if credentials != nil { problem = nil }
    }

    private static func isUnsendable(_ text: String) -> Bool { !text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// The values of a section, by names in lower case; `nil` when there is no such section.
    private static func section(_ name: String, of text: String) -> [String: String]? {
        var values: [String: String]?
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            // Lines that begin with a space belong to the value above, which is none of ours then.
            guard let first = line.first, !first.isWhitespace, first != "#", first != ";" else { continue }
            if first == "[" {
                let words = line.dropFirst().prefix { $0 != "]" }.filter { $0 != "\"" }.split(
                    whereSeparator: \.isWhitespace)
                isInside = words.joined(separator: " ") == name
                if isInside { values = values ?? [:] }
            } else if isInside, let sign = line.firstIndex(of: "=") {
                let key = line[..<sign].filter { !$0.isWhitespace }.lowercased()
                let value = line[line.index(after: sign)...].drop(while: \.isWhitespace)
                values?[key] = String(value.reversed().drop(while: \.isWhitespace).reversed())
            }
        }
        return values
    }
}
