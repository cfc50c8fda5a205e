/// The claims of machines to downloads.
extension RemoteTier {
    /// `true` when machines claim downloads.
    package var hasClaims: Bool { storage.hasClaims && configuration.mode == .readWrite }

    /// Claims the download of an object that is not there.
    ///
    /// - Returns: The claim, which ends with its last reference; `nil` when another machine has it, or none can be had.
    package func claim(_ name: String, seconds: Int) async -> (claim: RemoteClaim?, isTaken: Bool) {
        guard hasClaims, !state.withLock({ $0.isRetired }) else { return (nil, false) }
        let key = Self.claimName(name)
        state.withLock { $0.askedClaims += 1 }
        defer { state.withLock { $0.askedClaims -= 1 } }
        let isOurs = await ask(isWrite: true) { [self] in
            guard let token = try await storage.claim(key, seconds: seconds) else { return false }
            state.withLock { $0.claims[key] = token }
            return true
        }
        switch isOurs {
        case true?:
            let claim = RemoteClaim { [self] in endClaim(key) }
            // Nobody would give it back at the end of the process.
            return (state.withLock { $0.isRetired } ? nil : claim, false)
        case false?: return (nil, true)
        // It may have been got when the time was over.
        case nil:
            endClaim(key)
            return (nil, false)
        }
    }

    /// Ends a claim in the background, unless that was done.
    func endClaim(_ key: String) {
        let token = state.withLock { state in
            let token = state.claims.removeValue(forKey: key)
            if token != nil { state.endingClaims += 1 }
            return token
        }
        guard let token else { return }
        Task { [self] in
            do {
                try await patiently { try await $0.endClaim(key, token: token) }
            } catch {
                note(error, isOfWrite: true)
            }
            state.withLock { $0.endingClaims -= 1 }
        }
    }

    /// `true` when another machine downloads the object.
    package func isClaimed(_ name: String) async -> Bool {
        await ask { [storage] in try await storage.get(Self.claimName(name)) != nil } ?? false
    }

    static func claimName(_ name: String) -> String { name + ".claim" }
}
