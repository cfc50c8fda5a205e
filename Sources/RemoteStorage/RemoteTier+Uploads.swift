internal import Glibc
internal import Platform

/// What is written to the engine, for which no request waits.
extension RemoteTier {
    /// Uploads an object in the background. It is dropped when too many wait, or the engine is left out.
    package func upload(_ upload: RemoteUpload) {
        guard configuration.mode.writes, upload.byteCount <= configuration.maxBytes else { return }
        let (isQueued, probes, replaced) = state.withLock { state -> (Bool, Bool, [RemoteUpload]) in
            let admission = state.admit(at: now())
            let (isQueued, replaced) =
                admission == .pass && !state.isRetired ? state.uploads.append(upload) : (false, [])
            if !isQueued { state.counts.dropped += 1 }
            return (isQueued, admission == .probe, replaced)
        }
        withExtendedLifetime(replaced) {}
        if probes { probe() }
        if isQueued { startUploads() }
    }

    func startUploads() {
        while let upload = state.withLock({ $0.uploads.next() }) {
            Task { [self] in
                await perform(upload)
                state.withLock { $0.uploads.end(upload) }
                startUploads()
            }
        }
    }

    private func perform(_ upload: RemoteUpload) async {
        do {
            let bytes = try await pool.run(isLong: upload.byteCount > 1 << 18) { try upload.object()?.bytes }
            guard let bytes else { return }
            try await patiently { try await $0.put(upload.name, bytes, seconds: upload.seconds) }
            state.withLock { state in
                state.counts.uploads += 1
                state.counts.bytesWritten += bytes.count
                // Elsewhere, only reading tells whether requests are answered in time.
                if !configuration.mode.reads { state.breaker.answered(at: now()) }
            }
        } catch {
            note(error, isOfWrite: true)
        }
    }

    /// Begins to remove objects.
    package func removal(of names: Set<String>) -> ObjectRemoval {
        let dropped = state.withLock { state in
            let dropped = names.flatMap { state.uploads.beginRemoval($0) }
            state.counts.dropped += dropped.count
            return dropped
        }
        withExtendedLifetime(dropped) {}
        return ObjectRemoval(of: names, from: self)
    }

    /// Waits until no upload of a name runs, or none at all, which would put an object there again.
    package func waitForUploads(_ name: String? = nil) async throws {
        while state.withLock({ $0.uploads.isRunning(name) }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    func endRemoval(_ name: String) {
        state.withLock { $0.uploads.endRemoval(name) }
        startUploads()
    }

    // MARK: The end

    /// Stops the use of the tier, because another one is used from now on: what runs goes on, and its breaker reports nothing more.
    ///
    /// - Returns: What waits for its upload, and the state of the breaker that was reported last.
    package func retire() -> (waiting: [RemoteUpload], reported: CircuitBreaker.State) {
        state.withLock { state in
            state.isRetired = true
            return (state.dropUploads(), state.reported)
        }
    }

    /// `true` when an upload runs or a claim has not ended.
    package var isBusy: Bool { state.withLock { $0.isBusy } }

    /// Ends the claims of what is not being uploaded, and waits until nothing is to be uploaded and no claim is left, for a short
    /// time at most: the process ends.
    package func finish() {
        let end = now() + 2_000_000_000
        endIdleClaims()
        while now() < end, state.withLock({ $0.breaker.state == .closed && $0.isBusy }) {
            usleep(2000)
            // Those that had been asked for.
            endIdleClaims()
        }
    }

    private func endIdleClaims() {
        let idle = state.withLock { state in
            let uploading = Set(state.uploads.names.map(Self.claimName))
            return state.claims.keys.filter { !uploading.contains($0) }
        }
        for key in idle { endClaim(key) }
    }
}
