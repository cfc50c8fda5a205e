package import ImageErrors
internal import ImageFormats
internal import Platform
internal import Synchronization

/// Finding an image: in the index, in the folder where the two do not agree, and in other folders.
extension DiskStorage {
    /// The record of a stored image, if it is there, whole and not expired.
    ///
    /// - Complexity: One index lookup and two `lstat`; never waits.
    ///
    /// - Parameter lease: The time in seconds for which the path is lent, from before it is known to be there: so no eviction
    ///   comes between.
    func lookUp(_ key: CacheKey, lease: Double = 0) throws(ImageError) -> Lookup<ImageRecord> {
        let found: Lookup<ImageRecord>
        do throws(ImageError) { found = try lookIntoIndex(key, lease: lease, patience: 0) } catch {
            if case .storageFailed(_, _, .busy) = error { return .unsettled }
            throw error
        }
        if case .missing = found, readsOtherFolders { return .unsettled }
        return found
    }

    /// `true` when images are looked for in other folders too, which other programs write.
    package var readsOtherFolders: Bool { hasReadOnlyPaths.load(ordering: .relaxed) }

    /// `true` when no process has stored the image since the index was last asked for it, and did not have it: a download
    /// that is about to begin need not look once more. `false` where other folders are searched too.
    ///
    /// - Complexity: No system call.
    func isStillMissing(_ key: CacheKey) -> Bool {
        if readsOtherFolders { return false }
        let number = name(of: key).rowNumber
        return misses.withLock { $0[number] } == lending.changeMark(of: number)
    }

    /// Notes that the index does not have an image, where it is seen when another process stores it.
    ///
    /// - Parameter mark: From before it was asked.
    private func noteMissing(_ number: Int64, _ mark: ChangeMark) {
        guard lending.isShared else { return }
        misses.withLock { misses in
            // What is forgotten costs a look.
            if misses.count >= 4096 { misses.removeAll(keepingCapacity: true) }
            misses[number] = mark
        }
    }

    /// The entries that single users have for the key and the processors of `key`, the latest first. One that is only in
    /// memory is not among them.
    package func entriesOfUsers(_ key: CacheKey) throws(ImageError) -> [CacheKey] {
        let rows = try reporting { try index.variants(of: key.indexed) }
        // Within a second, the times of their files tell.
        return rows.sorted { ($0.storedAt, $0.modified) > ($1.storedAt, $1.modified) }
            .map { CacheKey(key.key, indexedIdentifier: $0.identifier) }
            .filter { !$0.partition.isEmpty && ExactText($0.identifier) == ExactText(key.identifier) }
    }

    /// Looks into the index, without other folders.
    ///
    /// - Parameters:
    ///   - evenExpired: `true` when an entry whose time is over, but which has not been cleaned away, is found too.
    ///   - patience: The longest wait in seconds for another process that holds the index.
    func lookIntoIndex(
        _ key: CacheKey, lease: Double, evenExpired: Bool = false, patience: Double = CacheIndex.patience
    ) throws(ImageError) -> Lookup<ImageRecord> {
        let name = name(of: key)
        // Before the index is looked at: changes from here on are noticed at the next hit.
        let mark = lending.changeMark(of: name.rowNumber)
        let adoptions = index.adoptionMark
        do {
            guard var row = try row(of: key, named: name, { try index.row($0.rowNumber, patience: patience) })
            else {
                // An index that has been opened and is at its place still is known: each miss looks at that.
                let isUnknown = try index.isUnready || !index.isOpen && !index.exists
                let isAdopting = index.isAdopting || index.adoptionMark != adoptions
                if try isAdopting || watch.isDoubted || isUnknown && folder.hasBlobs { return .unsettled }
                if !isUnknown { noteMissing(name.rowNumber, mark) }
                return .missing
            }
            // A use that has not been written yet may have given it more time.
            if isExpired(row), let touch = touches.touch(of: row) { row.expiresAt = touch.expiresAt }
            if isExpired(row), !evenExpired { return .missing }
            let isLent = lease > 0 ? lend(row.lease, for: lease, bytes: row.byteCount) : nil
            let path = folder.blob(row.fileName)
            // A file that cannot be looked at is an error, and no reason to forget it.
            guard let stamp = try FileStamp.existing(path), stamp.modified == row.modified,
                stamp.size == row.byteCount, !row.key.isEmpty, !index.unproven.contains(row), folder.trusts(stamp),
                !isUnverified(stamp)
            else { return .unsettled }
            let record = record(key, row, path, stamp, mark)
            if let isLent { record.isLent = isLent }
            return .found(record)
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// The image, where the index and the folder may not agree: one of them is put right first, and other folders are
    /// searched.
    ///
    /// - Parameter patience: The longest wait in seconds for another process that holds the index.
    package func settle(
        _ key: CacheKey, lease: Double = 0, patience: Double = CacheIndex.patience
    ) throws(ImageError) -> ImageRecord? {
        switch try lookIntoIndex(key, lease: lease, patience: patience) {
        case .found(let record): return record
        case .missing: return try reporting { try readOnlyRecord(for: key) }
        case .unsettled:
            return try reporting {
                try repairer.repairUnlessFull(key, lease: lease, patience: patience) ?? readOnlyRecord(for: key)
            }
        }
    }

    /// `true` when a file of a shared folder has not been compared with its checksum yet.
    private func isUnverified(_ stamp: FileStamp) -> Bool {
        folder.isShared && verified.withLock { $0[stamp.inode] } != stamp
    }

    /// Notes that a file is what the index says.
    func noteVerified(_ stamp: FileStamp) {
        guard folder.isShared else { return }
        verified.withLock { verified in
            // What is forgotten is compared again.
            if verified.count >= 1 << 16 { verified = [:] }
            verified[stamp.inode] = stamp
        }
    }

    /// The record of a stored image, once index and folder agree.
    package func record(
        for key: CacheKey, lease: Double = 0, patience: Double = CacheIndex.patience
    ) throws(ImageError) -> ImageRecord? {
        switch try lookUp(key, lease: lease) {
        case .found(let record): record
        case .missing: nil
        case .unsettled: try settle(key, lease: lease, patience: patience)
        }
    }

    /// The image for `key` in our own folder, also when its time is over and it has not been cleaned away. Waits.
    package func recordEvenExpired(
        _ key: CacheKey, lease: Double = 0, patience: Double = CacheIndex.patience
    ) throws(ImageError) -> ImageRecord? {
        var found = try lookIntoIndex(key, lease: lease, evenExpired: true, patience: patience)
        if case .unsettled = found {
            _ = try reporting { try repairer.repair(key, lease: lease, patience: patience) }
            found = try lookIntoIndex(key, lease: lease, evenExpired: true, patience: patience)
        }
        return found.value
    }

    /// `true` when an image that was found before, and whose file is there, is still the one that the cache has for its key. A
    /// file may be there for its lease alone, and the cache may now have an image that was found in another folder.
    ///
    /// - Complexity: A load from memory as long as ``Lending/changeMark(of:)`` stays; else an index lookup.
    ///
    /// - Parameter patience: The longest wait in seconds for another process that holds the index.
    /// - Returns: `nil` when the index is held.
    func isCurrent(_ record: ImageRecord, patience: Double) -> Bool? {
        guard !record.isLocalFile, let path = record.path else { return true }
        let mark = record.number.map(lending.changeMark)
        let isOurs = mark != nil
        if !isOurs, !configuration.readOnlyPaths.contains(where: { path.hasPrefix($0 + "/") }) { return false }
        if mark == record.knownMark { return true }
        let known: Lookup<ImageRecord>
        do throws(ImageError) { known = try lookIntoIndex(record.key, lease: 0, patience: patience) } catch {
            if case .storageFailed(_, _, .busy) = error { return nil }
            return false
        }
        guard let mark else { return known.isMissing }
        guard let found = known.value, found.path == path, found.storedAt == record.storedAt, let stamp = record.stamp,
            found.stamp?.matches(stamp) == true
        else { return false }
        record.knownMark = mark
        return true
    }

    // MARK: Other folders

    /// The image for a key in the folders besides our own, which are never written: the first that has one.
    ///
    /// A folder may hold its files side by side, as those of Kingfisher and SDWebImage do, or be the folder of a Halcyon
    /// cache. Files are looked for with the extensions that the key suggests, and without.
    ///
    /// - Throws: ``SystemError`` when it cannot be told whether one has it.
    func readOnlyRecord(for key: CacheKey) throws -> ImageRecord? {
        let paths = configuration.readOnlyPaths
        guard !paths.isEmpty else { return nil }
        let name = name(of: key)
        var extensions: [String] = []
        for text in [fileExtension(for: key, nil), key.ownExtension, key.foretoldExtension, ""]
        where !extensions.contains(text) {
            extensions.append(text)
        }
        for root in paths {
            let other = StorageFolder(path: root)
            // The latest of those that an image had: the others stay for their leases.
            let blobs = try other.placedBlobs(of: name).map { other.blob($0) }
            for path in extensions.map({ "\(root)/\(StorageFolder.fileName(name.hex, $0))" }) + blobs {
                guard try FileStamp.existing(path) != nil else { continue }
                let file = try Descriptor(reading: path)
                guard let stamp = file.stamp, let header = try file.header(stamp) else { continue }
                return ImageRecord(
                    key: key, header: header, byteCount: stamp.size, path: path, storedAt: clock.now, stamp: stamp)
            }
        }
        return nil
    }
}
