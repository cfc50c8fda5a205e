package import HTTPSemantics
package import ImageErrors
internal import Platform

/// What is stored, as far as a request may have to ask its server about it.
extension ImageCache {
    /// An image that was found, and how it stands with its time.
    package struct Candidate: Sendable {
        package let hit: Hit
        /// For how many seconds its time on disk has been over; nil while it is not.
        package var expiredFor: Int?

        /// A stored image, and how long it has been expired.
        package init(hit: Hit, expiredFor: Int? = nil) {
            self.hit = hit
            self.expiredFor = expiredFor
        }

        /// What makes a request for it conditional; nil when its server cannot be asked.
        package func validators(for scope: HTTPScope) -> Validators? {
            let origin = hit.record.origin
            let answer = hit.record.answer?.metadata
            // Validators of another source say nothing to this one, nor do those of a part to who wants the whole.
            guard let url = origin.url, answer?.isAlternative != true, answer?.status != 206, !scope.isConditional
            else {
                return nil
            }
            let etag = origin.etag.flatMap(Self.sendable)
            let lastModified = origin.lastModified.flatMap(Self.sendable)
            return etag == nil && lastModified == nil
                ? nil
                : Validators(
                    etag: etag, lastModified: lastModified, url: url,
                    isDirect: answer?.route?.isRedirected != true)
        }

        /// The text, if it can be the value of a header field.
        private static func sendable(_ text: String) -> String? {
            let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            return isPlain && text.utf8.count <= 4096 ? text : nil
        }
    }

    /// The image for `key`, in memory or on disk. Waits.
    ///
    /// - Parameter evenExpired: Whether an entry on disk whose time is over is found too; it is not promoted.
    package func candidate(for key: CacheKey, options: StorageOptions, evenExpired: Bool) throws(ImageError)
        -> Candidate?
    {
        if let hit = try hit(for: key, options: options, burst: 0, mayWait: true) {
            guard hit.record.path == nil, !options.cacheMemoryOnly, !options.fromMemoryCacheOrRefresh,
                let newer = try self.hit(for: key, storedAfter: hit.record, options: options)
            else { return Candidate(hit: hit) }
            return Candidate(hit: newer)
        }
        guard evenExpired, !options.fromMemoryCacheOrRefresh,
            let record = try disk.recordEvenExpired(key, lease: options.lease ?? Self.lease)
        else { return nil }
        let over = record.expiryTime.map { HTTPFreshness.span(from: $0, to: disk.clock.now) }
        return Candidate(hit: Hit(entry: MemoryEntry(record: record, bytes: nil), cacheType: .disk), expiredFor: over)
    }

    /// The same image with what another process may have heard of its server since memory took note of it. Waits.
    package func renewed(_ hit: Hit, options: StorageOptions) throws(ImageError) -> Hit {
        guard hit.cacheType == .memory, hit.record.number != nil,
            case .found(let record) = try disk.lookIntoIndex(hit.record.key, lease: 0), let stamp = record.stamp,
            hit.record.stamp?.matches(stamp) == true, record.origin != hit.record.origin
        else { return hit }
        return Hit(entry: promote(record, bytes: hit.bytes, options).entry, cacheType: .memory)
    }

    /// Lets an image live again with what its server has said about it.
    ///
    /// - Returns: nil if it has been removed or replaced meanwhile.
    package func revive(_ hit: Hit, _ origin: ImageOrigin, options: StorageOptions) throws(ImageError) -> Hit? {
        let old = hit.record
        let record: ImageRecord
        if old.path == nil {
            guard memory.peek(old.key)?.record === old else { return nil }
            record = old.replacing(origin)
        } else {
            do throws(ImageError) {
                let lease = options.lease ?? Self.lease
                let expiration = options.diskCacheExpiration
                guard let new = try disk.revive(old, origin, expiration: expiration, lease: lease) else {
                    if memory.peek(old.key)?.record === old { memory.remove(old.key) }
                    return nil
                }
                record = new
            } catch {
                // That the index cannot be written is no reason to keep from the caller what is there.
                guard case .storageFailed = error, old.isIntact(burst: 0) else { throw error }
                record = old.replacing(origin)
            }
        }
        return Hit(entry: promote(record, bytes: hit.bytes, options).entry, cacheType: hit.cacheType)
    }

    /// Takes an image out of both tiers; a path that is lent out stays until its lease ends.
    package func discard(_ key: CacheKey) throws(ImageError) {
        memory.remove(key)
        try disk.discard(key)
    }

    /// Whether the image that was found is still the one of its key.
    package func holds(_ hit: Hit) -> Bool {
        hit.record.path == nil ? memory.peek(hit.record.key)?.record === hit.record : hit.record.isIntact(burst: 0)
    }
}

extension ImageRecord {
    /// Whether a request in one of the scopes may be given the image.
    package func belongs(to scopes: [HTTPScope]) -> Bool {
        guard isPersonal else { return true }
        // What cannot be read is nobody's.
        return answer.map { answer in scopes.contains { answer.metadata.belongs(to: $0) } } ?? false
    }
}
