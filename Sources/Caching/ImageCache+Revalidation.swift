package import HTTPSemantics
package import ImageErrors
internal import Platform

/// Stored images whose servers may be asked about them.
extension ImageCache {
    /// An image that was found, and the time since its expiry.
    package struct Candidate: Sendable {
        package var hit: Hit
        /// The seconds since its time on disk was over; `nil` while it is not.
        package var expiredFor: Int?

        package init(hit: Hit) { self.hit = hit }

        /// An image on disk, whether or not its time is over.
        package init(_ record: ImageRecord, at now: Int) {
            hit = Hit(record: record)
            expiredFor = record.expiryTime.map { HTTPFreshness.span(from: $0, to: now) }
        }

        /// The validators that make a request for it conditional; `nil` when its server cannot be asked.
        ///
        /// - Parameter isForeign: `true` when the image is not the request's own: then only a tag identifies it, because two
        ///   users may have different images of the same date.
        package func validators(for scope: HTTPScope, isForeign: Bool = false) -> Validators? {
            let origin = hit.record.origin
            let answer = hit.record.answer?.metadata
            // Validators of another source, method or body say nothing about this one, nor do those of a part about the whole.
            guard let url = origin.url, answer?.isAlternative != true, answer?.status != 206, !scope.isConditional,
                answer.map({ $0.isDemanded(by: scope) }) ?? (scope.demand == nil)
            else { return nil }
            let etag = Self.sendable(origin.etag)
            let lastModified = isForeign ? nil : Self.sendable(origin.lastModified)
            guard etag != nil || lastModified != nil else { return nil }
            return Validators(
                etag: etag, lastModified: lastModified, url: url, isDirect: answer?.route?.isRedirected != true)
        }

        /// The text, if it can be the value of a header field.
        private static func sendable(_ text: String?) -> String? {
            text.flatMap { !$0.isEmpty && HeaderRules.canBeSentBack($0) ? $0 : nil }
        }
    }

    /// The image for `key`, in memory or on disk. Waits.
    ///
    /// - Parameters:
    ///   - evenExpired: `true` when an entry on disk whose time is over is found too; it is not promoted.
    ///   - patience: The longest wait in seconds for another process that holds the index.
    package func candidate(
        for key: CacheKey, options: StorageOptions, evenExpired: Bool, patience: Double
    ) throws(ImageError) -> Candidate? {
        if let hit = try hit(for: key, options: options, patience: patience) {
            guard hit.lacksFile(for: options), !options.fromMemoryCacheOrRefresh else {
                return Candidate(hit: hit)
            }
            do throws(ImageError) {
                return Candidate(
                    hit:
                        try self.hit(for: key, storedAfter: hit.record, options: options, patience: patience) ?? hit)
            } catch {
                // A disk that cannot be read has nothing newer to answer with.
                guard error.leavesStorageUnused else { throw error }
                return Candidate(hit: hit)
            }
        }
        guard evenExpired, !options.fromMemoryCacheOrRefresh,
            let record = try disk.recordEvenExpired(key, lease: options.lease ?? Self.lease, patience: patience)
        else { return nil }
        return Candidate(record, at: disk.clock.now)
    }

    /// The same image with what another process may have heard of its server since memory remembers it; unchanged when the
    /// index cannot be read.
    ///
    /// - Parameter patience: The longest wait in seconds for another process that holds the index.
    package func renewed(_ hit: Hit, options: StorageOptions, patience: Double) -> Hit {
        guard let record = newerRecord(of: hit, patience: patience) else { return hit }
        return Hit(entry: promote(record, bytes: hit.bytes, options).entry, cacheType: .memory)
    }

    /// As ``renewed(_:options:patience:)``, of which memory learns nothing.
    package func seenAnew(_ hit: Hit, patience: Double) -> Hit {
        guard let record = newerRecord(of: hit, patience: patience) else { return hit }
        return Hit(entry: MemoryEntry(record: record, bytes: hit.bytes), cacheType: .memory)
    }

    private func newerRecord(of hit: Hit, patience: Double) -> ImageRecord? {
        guard hit.cacheType == .memory, hit.record.number != nil,
            case .found(let record)? = try? disk.lookIntoIndex(hit.record.key, lease: 0, patience: patience),
            let stamp = record.stamp,
            hit.record.stamp?.matches(stamp) == true, record.origin != hit.record.origin
        else { return nil }
        return record
    }

    /// Begins the life of an image anew, with the new answer of its server.
    ///
    /// - Returns: `nil` if it has been removed or replaced meanwhile.
    package func revive(_ hit: Hit, _ origin: ImageOrigin, options: StorageOptions) throws(ImageError) -> Hit? {
        let old = hit.record
        let held = memory.peek(old.key).flatMap { $0.record === old ? $0 : nil }
        let record: ImageRecord
        if old.path == nil {
            guard held != nil else { return nil }
            record = old.replacing(origin)
        } else {
            do throws(ImageError) {
                guard
                    let new = try disk.revive(
                        old, origin, expiration: options.diskCacheExpiration, lease: options.lease ?? Self.lease)
                else {
                    if held != nil { memory.remove(old.key) }
                    return nil
                }
                record = new
            } catch {
                // That the index cannot be written is no reason to keep from the caller what is there.
                guard case .storageFailed = error, old.isIntact(burst: 0) else { throw error }
                record = old.replacing(origin, life: disk.life(options.diskCacheExpiration))
            }
        }
        // What memory has is not to tell of the old answer, whatever the options say about memory.
        let kept =
            held.map { keep(record, bytes: hit.bytes ?? $0.bytes, expiration: options.memoryCacheExpiration) }
            ?? promote(record, bytes: hit.bytes, options)
        return Hit(entry: kept.entry, cacheType: hit.cacheType)
    }

    /// Keeps another origin, with new facts about an image, with it; an image that has replaced it stays as it is.
    package func note(
        _ origin: ImageOrigin, of record: ImageRecord, _ options: StorageOptions
    ) throws(ImageError) -> ImageRecord {
        let noted = try disk.note(origin, of: record) ?? record.replacing(origin)
        if let entry = memory.peek(record.key), entry.record === record {
            keep(noted, bytes: entry.bytes, expiration: options.memoryCacheExpiration)
        }
        return noted
    }

    /// `true` when the image that was found is still the one of its key. Waits.
    package func holds(_ record: ImageRecord) -> Bool {
        if record.path == nil { return memory.peek(record.key)?.record === record }
        guard let now = try? disk.recordEvenExpired(record.key) else { return false }
        return now.stamp == record.stamp && now.storedAt == record.storedAt
    }
}
