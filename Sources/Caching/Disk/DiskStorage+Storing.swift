package import ImageErrors
internal import Platform

/// Storing images.
extension DiskStorage {
    /// The result of storing an image.
    struct Stored: Sendable {
        let record: ImageRecord
        /// `false` when an image was there that was not to be replaced: then the record is that one's.
        let isNew: Bool
        /// The reason why the image is there for its lease only; `nil` when it is an entry.
        var transience: NotStoredReason?
    }

    /// Stores an image: writes its bytes here, and leaves the rest to the thread that writes into the index now.
    ///
    /// - Parameters:
    ///   - queue: Runs what others should not wait for.
    ///   - then: Called once with the record, when the file is at its place and the index knows it. It must not wait, for
    ///     other stores do.
    func store(
        _ content: Content, _ request: StoreRequest, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Stored, ImageError>) -> Void
    ) {
        do throws(ImageError) {
            let fileExtension = request.fileExtension ?? fileExtension(for: request.key, request.header.format)
            guard StorageFolder.isExtension(fileExtension) else {
                throw .storageFailed(
                    reason: "\"\(fileExtension.excerpt)\" cannot be the extension of a file.",
                    hint: "Use letters and digits.")
            }
            // What is found here, also in another folder, saves the draft. What is not is looked for again in the transaction,
            // which is final: another process may store one yet.
            if !request.overwrites,
                let found = try settle(request.key, lease: request.lease, patience: request.patience)
            {
                return then(.success(Stored(record: found, isNew: false)))
            }
            attempt(content, request, fileExtension, in: queue, attempts: 4, then: then)
        } catch {
            then(.failure(error))
        }
    }

    /// Stores an image when its draft may be written, and again when the disk was full and room could be made.
    private func attempt(
        _ content: Content, _ request: StoreRequest, _ fileExtension: String, in queue: WorkQueue, attempts: Int,
        then: @escaping @Sendable (Result<Stored, ImageError>) -> Void
    ) {
        let bytes = StorageFolder.size(of: content)
        drafts.admit(bytes, most: draftShare, in: queue) { [self] waited in
            var request = request
            // What has waited here has the rest of its time for other processes.
            if waited > 0 { request.patience = max(0.01, request.patience - waited) }
            let end: StoreJob.End = { [self, request] result in
                drafts.leave(bytes)
                let answer = result.mapError { ImageError.storage($0, folder: folder.path) }
                guard attempts > 1, case .failure(let error) = result, Evictor.isOfFullDisk(error) else {
                    return then(answer)
                }
                queue.submit { [self] in
                    guard evictor.makeSpace(for: bytes) else { return then(answer) }
                    attempt(content, request, fileExtension, in: queue, attempts: attempts - 1, then: then)
                }
            }
            do {
                try StoreJob(content, request, fileExtension, in: self, queue, end: end).start()
            } catch {
                end(.failure(error))
            }
        }
    }

    /// The error of an image that is larger than the whole tier.
    package static func tooLarge(_ byteCount: Int, _ key: CacheKey) -> ImageError {
        .limitExceeded(
            limit: "bytesLimit", reason: "its \(byteCount) bytes are more than the disk tier may hold in all",
            source: key.key)
    }
}
