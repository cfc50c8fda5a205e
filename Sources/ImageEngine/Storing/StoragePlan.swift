extension NotStoredReason {
    /// The reason for a refusal of the memory tier; `nil` when it has stored the image.
    init?(_ admission: MemoryAdmission) {
        switch admission {
        case .kept: return nil
        case .tooLarge: self = .tooLarge
        case .disabled: self = .memoryOff
        case .expired: self = .expired
        case .unwanted: self = .notAsked
        case .occupied: self = .occupied
        }
    }

    /// The reason for a failed attempt to store; `nil` when the disk is not the cause.
    init?(_ error: ImageError) {
        switch error {
        case .storageFailed(_, _, .full): self = .noRoom
        case .storageFailed(_, _, .busy): self = .busy
        case .storageFailed(_, _, .changing): return nil
        case .storageFailed: self = .diskFailed
        // The plan has already excluded images larger than the whole tier.
        case .limitExceeded("bytesLimit", _, _): self = .noRoom
        default: return nil
        }
    }
}

/// The decision about storing a loaded or given image: its place, or the reason for none. All paths that store use it. What
/// only the attempt can show (no room, a disk that fails, a key that is taken) is translated by ``StoragePolicy``. A plain
/// value.
struct StoragePlan: Sendable, Equatable {
    enum Place: Sendable, Equatable {
        /// In a file of the disk tier, with its record in memory.
        case disk
        /// In memory only.
        case memory
        /// In a file that lasts for the lease of its path and is not an entry.
        case lease
        /// In no tier.
        case nowhere
    }

    /// The removal of the previous image with the key. A place that keeps the new image replaces it anyway.
    enum Removal: Sendable, Equatable {
        case none, fromMemory, fromBothTiers
    }

    var place: Place
    /// The reason why no tier keeps the image, however the attempt goes; `nil` when one is to keep it.
    var reason: NotStoredReason?
    /// The refusal of the memory tier, when only memory should keep the image.
    var admission: MemoryAdmission?
    /// `true` when memory keeps the bytes in addition to the file.
    var keepsBytes = false
    var removal = Removal.none
    /// `true` when the answer is sent before the image is stored.
    var answersFirst = false
    /// `true` when the caller gets an error instead of an image that no tier keeps.
    var fails = false

    /// The reason why no tier keeps the image: that of the plan, and without one what an attempt to store it has met with.
    func reason(after attempt: NotStoredReason?) -> NotStoredReason? { reason ?? attempt }
}

/// The storage rules of a request: the caller's side of a ``StoragePlan``. A plain value.
struct StoragePolicy: Sendable, Equatable {
    /// The known properties of an image and its cache before it is stored.
    struct Image: Sendable, Equatable {
        var byteCount = 0
        /// `true` when the response or the request has `Cache-Control: no-store`.
        var isNoStore = false
        /// The size limit of the disk tier, in bytes; 0 for no limit.
        var diskLimit = 0
        /// The decision of the memory tier about the bytes; it applies when only memory should keep them.
        var memory = MemoryAdmission.kept
    }

    var storage = StorageOptions()
    var needs: ImageNeeds = []
    /// `true` when the request follows HTTP.
    var obeysNoStore = false
    /// `true` when the caller provides the image: it is stored, or the request fails. A loaded image can be answered
    /// without being stored.
    var isGiven = false
    /// `true` when an image that has the key is replaced.
    var overwrites = true
    /// `true` when the image is made from an expired original; see ``StorageOptions/ofExpiredOriginal(_:)``.
    var isOfExpired = false

    /// `true` when the caller waits neither for the store nor for a file.
    var answersFirst: Bool { !isGiven && !storage.waitForCache && !needs.contains(.file) }

    /// `true` when memory should have the bytes too, unless the options exclude memory.
    var wantsBytesInMemory: Bool { needs.contains(.bytes) || storage.queryDataWhenInMemory }

    func plan(for image: Image) -> StoragePlan {
        if obeysNoStore, image.isNoStore { return notStoring(.noStore, removal: .fromBothTiers) }
        var plan = StoragePlan(place: storage.cacheMemoryOnly ? .memory : .disk, answersFirst: answersFirst)
        plan.keepsBytes = wantsBytesInMemory && storage.keepsInMemory
        if isOfExpired, plan.place == .disk { plan.reason = .expired }
        // The attempt itself finds an existing image, so that no other process can interfere.
        guard overwrites else { return plan }
        if storage.cacheMemoryOnly {
            let admission = storage.keepsInMemory ? image.memory : .unwanted
            guard let reason = NotStoredReason(admission) else { return plan }
            plan = notStoring(reason, removal: .fromMemory)
            plan.admission = admission
        } else if image.diskLimit > 0, image.byteCount > image.diskLimit {
            if !isGiven, needs.contains(.file), storage.lease ?? ImageCache.lease > 0 {
                (plan.place, plan.reason) = (.lease, .tooLarge)
            } else {
                plan = notStoring(.tooLarge, removal: .fromBothTiers)
                // The previous image is outdated by an answer; without an answer it stays.
                if plan.fails { plan.removal = .none }
            }
        }
        return plan
    }

    private func notStoring(_ reason: NotStoredReason, removal: StoragePlan.Removal) -> StoragePlan {
        StoragePlan(place: .nowhere, reason: reason, removal: removal, fails: fails(for: reason))
    }

    /// `true` when the caller gets an error instead of an image that no tier keeps.
    ///
    /// A caller that needs the bytes gets them. One that needs the file alone gets an error. One that needs neither gets an
    /// error when it waits for memory, for which alone the image was loaded.
    func fails(for reason: NotStoredReason) -> Bool {
        if reason == .occupied { return false }
        if isGiven { return true }
        if needs.takesBytes { return false }
        return needs.contains(.file) || reason != .noStore && storage.cacheMemoryOnly && storage.waitForCache
    }

    /// The reason for answering an image that could not be stored; `nil` when the error is the answer.
    func reason(after error: ImageError) -> NotStoredReason? {
        guard !isGiven, let reason = NotStoredReason(error) else { return nil }
        if needs.takesBytes { return reason }
        // A tier that is full or held is no failure for a caller that needs no file; a failed disk is one.
        if case .limitExceeded = error { return needs.contains(.file) ? nil : reason }
        return reason == .busy && !needs.contains(.file) ? reason : nil
    }
}

extension StoragePolicy {
    /// The policy of a request with these options.
    init(_ options: ImageOptions, _ needs: ImageNeeds, isGiven: Bool = false) {
        self.init(
            storage: options.storage, needs: needs, obeysNoStore: !isGiven && options.lookup.followsHTTP,
            isGiven: isGiven)
    }
}

extension StorageOptions {
    package var keepsNothing: Bool { cacheMemoryOnly && !keepsInMemory }

    package mutating func keepNothing() { (cacheMemoryOnly, keepsInMemory) = (true, false) }

    /// The options for an image made from an expired original, which replaces a newer one: it is
    /// stored as expired. If memory alone keeps it and the caller is given no bytes, it keeps its lifetime: else the result
    /// would be nowhere.
    func ofExpiredOriginal(_ needs: ImageNeeds) -> StorageOptions {
        var storage = self
        storage.diskCacheExpiration = .expired
        if !cacheMemoryOnly || needs.contains(.bytes) { storage.memoryCacheExpiration = .expired }
        return storage
    }
}
