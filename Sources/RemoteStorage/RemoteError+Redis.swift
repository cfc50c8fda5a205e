internal import Platform

extension RemoteError {
    /// An error of Redis in words that say what can be done.
    ///
    /// - Parameter isGreeting: `true` when it answers AUTH or SELECT. Its words are then left out: those of a server that does
    ///   not know AUTH repeat the password.
    static func redis(_ text: String, isGreeting: Bool = false) -> RemoteError {
        let text = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }))
        if ["MOVED ", "ASK ", "TRYAGAIN"].contains(where: text.hasPrefix) { return .rearranging }
        if let (_, sentence) = sentences.first(where: { text.hasPrefix($0.prefix) }) { return .refused(sentence) }
        guard isGreeting else { return .refused(text.excerpt) }
        return .refused(
            text.contains("unknown command")
                ? "it does not know AUTH, or not by that name" : "it takes neither the user nor the database of the URL"
        )
    }

    private static let sentences: [(prefix: String, sentence: String)] = [
        ("NOAUTH", "it wants a password, and the URL has none (redis://user:password@host)"),
        ("WRONGPASS", "it does not take the user and the password of the URL"),
        ("ERR invalid password", "it does not take the password of the URL"),
        (
            "ERR AUTH",
            "the URL has a password, but the server has none (leave the password out, or set requirepass there)"
        ),
        ("ERR Client sent AUTH", "the URL has a password, but the server has none (leave the password out)"),
        (
            "ERR wrong number of arguments for 'auth'",
            "the URL has a user, but the server is too old for users (leave the user out)"
        ),
        ("ERR DB index", "it has no database of that number (the number at the end of the URL)"),
        (
            "ERR SELECT is not allowed in cluster mode",
            "a cluster has only the database 0 (the number at the end of the URL)"
        ),
        (
            "NOPERM",
            "the user of the URL may not use a command or a key (allow +get +getrange +set +del +eval +time +select and ~halcyon:*)"
        ),
        ("OOM", "its memory is full (set maxmemory-policy to allkeys-lru, or raise maxmemory)"),
        (
            "READONLY",
            "it is a replica, which is only read (put the primary into the URL, or set remoteMode to read-only)"
        ),
        ("LOADING", "it is still loading its data"),
        ("MISCONF", "it writes nothing, because it cannot save to its disk (MISCONF)"),
        ("MASTERDOWN", "it is a replica that has lost its primary"),
        ("CLUSTERDOWN", "its cluster is down"),
        ("DENIED", "it is in protected mode, and takes only connections from its own machine (give it a password)"),
        ("ERR max number of clients", "it has too many clients (maxclients)"),
        ("WRONGTYPE", "something else is stored under the name of an object"),
    ]
}
