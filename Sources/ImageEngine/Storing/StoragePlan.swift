extension NotStoredReason {
    /// The reason of a tier's refusal; `nil` when memory has taken the image.
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

    /// The reason that only the attempt to store could show; `nil` when the error has another cause than the disk.
    init?(_ error: ImageError) {
        switch error {
        case .storageFailed(_, _, let isFull): self = isFull ? .noRoom : .diskFailed
        // A plan finds out before the attempt that an image is larger than the whole tier.
        case .limitExceeded("bytesLimit", _, _): self = .noRoom
        default: return nil
        }
    }
}

/// Where an image that was loaded or given is kept, and why not: the one decision about storing, asked by every path that
/// stores. A plain value.
struct StoragePlan: Sendable, Equatable {
    /// The place of the image.
    enum Place: Sendable, Equatable {
        /// In a file of the disk tier, with its record in memory.
        case disk
        /// In memory alone.
        case memory
        /// In a file that stays for the lease of its path and is no entry.
        case lease
        /// In the user's own file, with its record in memory.
        case userFile
        /// In no tier.
        case nowhere
    }

    /// What happens to the image that had the key before. A place that keeps the new image replaces it anyway.
    enum Removal: Sendable, Equatable {
        case none, fromMemory, fromBothTiers
    }

    var place: Place
    /// The reason why no tier keeps the image; `nil` when the plan is to keep it.
    var reason: NotStoredReason?
    /// The refusal of memory, when memory alone was to keep the image.
    var admission: MemoryAdmission?
    /// `true` when memory keeps the bytes beside the file.
    var keepsBytes = false
    var removal = Removal.none
    /// `true` when the answer goes out before the image is stored.
    var answersFirst = false
    /// `true` when the caller gets an error instead of an image that no tier keeps.
    var fails = false
}

/// What a request wants of storing: the side of the caller in a ``StoragePlan``. A plain value.
struct StoragePolicy: Sendable, Equatable {
    /// What is known of an image and of its cache before it is stored.
    struct Image: Sendable, Equatable {
        /// The size, in bytes.
        var byteCount = 0
        /// `true` when `Cache-Control: no-store` came with the image, or was sent for it.
        var isNoStore = false
        /// The most bytes that the disk tier may hold; 0 for no limit.
        var diskLimit = 0
        /// What memory makes of the bytes; counts when memory alone is to keep them.
        var memory = MemoryAdmission.kept
    }

    var storage = StorageOptions()
    /// What the result must hold.
    var needs: ImageNeeds = []
    /// `true` when the request goes by HTTP.
    var obeysNoStore = false
    /// `true` when the image is the caller's own: it is stored, or the request fails. A loaded image can be answered without
    /// being stored.
    var isGiven = false
    /// `true` when an image that has the key is replaced.
    var overwrites = true
    /// `true` when the image is made from an expired original, and is stored as ``StorageOptions/ofExpiredOriginal(_:)`` says.
    var isOfExpired = false

    /// The policy of a request for an image that is loaded.
    init(_ options: ImageOptions, _ needs: ImageNeeds) {
        self.init(storage: options.storage, needs: needs, obeysNoStore: options.lookup.revalidate == .http)
    }

    init(
        storage: StorageOptions = StorageOptions(), needs: ImageNeeds = [], obeysNoStore: Bool = false,
        isGiven: Bool = false, overwrites: Bool = true, isOfExpired: Bool = false
    ) {
        (self.storage, self.needs, self.obeysNoStore) = (storage, needs, obeysNoStore)
        (self.isGiven, self.overwrites, self.isOfExpired) = (isGiven, overwrites, isOfExpired)
    }

    /// `true` when the caller waits neither for the store nor for a file.
    var answersFirst: Bool { !isGiven && !storage.waitForCache && !needs.contains(.file) }

    /// `true` when a store is one step on one thread, for every image.
    var isOneStep: Bool { !answersFirst && !obeysNoStore }

    /// `true` when memory is to have the bytes too, unless the options keep memory out.
    var wantsBytesInMemory: Bool { needs.contains(.bytes) || storage.queryDataWhenInMemory }

    /// What is done with an image.
    func plan(for image: Image) -> StoragePlan {
        if obeysNoStore, image.isNoStore { return notStoring(.noStore, removal: .fromBothTiers) }
        var plan = StoragePlan(place: storage.cacheMemoryOnly ? .memory : .disk, answersFirst: answersFirst)
        plan.keepsBytes = wantsBytesInMemory && storage.keepsInMemory
        if isOfExpired, plan.place == .disk { plan.reason = .expired }
        // The attempt finds the image that stays, where no other process can come between.
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
                // The image of before is older than one that is answered, and stays when there is no answer.
                if plan.fails { plan.removal = .none }
            }
        }
        return plan
    }

    private func notStoring(_ reason: NotStoredReason, removal: StoragePlan.Removal) -> StoragePlan {
        StoragePlan(place: .nowhere, reason: reason, removal: removal, fails: fails(for: reason))
    }

    /// What is done with a file of the user's, which is read where it is.
    ///
    /// - Parameter isTraceable: `true` when a change of the file can be noticed. It cannot behind a link.
    func plan(forUserFile isTraceable: Bool) -> StoragePlan {
        StoragePlan(place: isTraceable ? .userFile : .nowhere)
    }

    /// `true` when the caller gets an error instead of an image that no tier keeps.
    ///
    /// A caller that needs the bytes gets them. One that needs the file alone gets an error. One that needs neither gets an
    /// error when it waits for memory, for which alone the image was loaded.
    func fails(for reason: NotStoredReason) -> Bool {
        if reason == .occupied { return false }
        if isGiven { return true }
        if needs.contains(.bytes) { return false }
        return needs.contains(.file) || reason != .noStore && storage.cacheMemoryOnly && storage.waitForCache
    }

    /// The reason why an image is answered without being stored, after the attempt has failed; `nil` when the error is the
    /// answer.
    func reason(after error: ImageError) -> NotStoredReason? {
        guard !isGiven, let reason = NotStoredReason(error) else { return nil }
        if needs.contains(.bytes) { return reason }
        // A tier without room is no failure for who needs no file; a disk that fails is one.
        if case .limitExceeded = error { return needs.contains(.file) ? nil : reason }
        return nil
    }
}

extension StorageOptions {
    /// `true` when no tier keeps the image.
    package var keepsNothing: Bool { cacheMemoryOnly && !keepsInMemory }

    /// Names no tier.
    package mutating func keepNothing() { (cacheMemoryOnly, keepsInMemory) = (true, false) }

    /// The same for what is made from an expired original, which stands in for a newer one: it does not live on as if it were
    /// fresh. In memory alone it stays for a caller who needs no bytes, or it would be in no place.
    func ofExpiredOriginal(_ needs: ImageNeeds) -> StorageOptions {
        var storage = self
        storage.diskCacheExpiration = .expired
        if !cacheMemoryOnly || needs.contains(.bytes) { storage.memoryCacheExpiration = .expired }
        return storage
    }
}
