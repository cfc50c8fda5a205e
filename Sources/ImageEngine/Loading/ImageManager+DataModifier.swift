extension ImageManager {
    /// What came, as the request wants it changed before it is looked at. Bytes are counted, gone on with and recorded as
    /// they come; digests, headers of pictures and sizes are those of what is made of them.
    func modified(_ arrival: Arrival) async throws -> Arrival {
        guard let modifier = arrival.request.dataModifier else { return arrival }
        let place = downloader.transport.spool
        return try await pool.run {
            var modified = arrival
            modified.download.body = try modifier.modified(
                arrival.download.body, of: arrival.request.url, in: place)
            return modified
        }
    }
}
