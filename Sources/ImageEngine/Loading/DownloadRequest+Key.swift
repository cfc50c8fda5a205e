internal import Platform

extension DownloadRequest {
    /// The identity of the download of an image for a key, among all processes.
    ///
    /// - Parameter inMemory: `true` when the image goes to memory alone, where callers that want a file do not find it.
    func flight(to key: CacheKey, inMemory: Bool = false) -> Digest {
        identity(at: [key.key, key.identifier], marks: inMemory ? ["MEMORY"] : [])
    }
}
