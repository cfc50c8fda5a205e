internal import ImageRecipes
internal import Platform

/// A load is its own key: those that send the same request and store its response alike share one job.
extension FetchPlan: JobKey {
    /// `true` when the image to load, the request that is sent for it, its storage, and the made image that is answered when
    /// the original has not changed are equal.
    func isEqual(to other: any JobKey) -> Bool {
        guard let other = other as? FetchPlan else { return false }
        return cache === other.cache && key == other.key && request == other.request && storing == other.storing
            && needs == other.needs && storedCandidate?.variant == other.storedCandidate?.variant
    }
}

/// What loads a stored image again in the background: the stored image as found. A newly stored or confirmed image has
/// another key, because it may be stale again before the refresh that brought it has ended.
struct RefreshKey: Hashable, Sendable {
    let cache: String
    let key: CacheKey
    let storedAt: Int
    let confirmedAt: Int?

    init(_ cache: String, _ record: ImageRecord) {
        (self.cache, key, storedAt) = (cache, record.key, record.storedAt)
        confirmedAt = record.answer?.metadata.receivedAt
    }
}

/// What makes an image from its original and stores it: the image to make, the bytes that it is made from, and its storage.
struct VariantKey: Hashable, Sendable {
    let cache: String
    let key: CacheKey
    let mark: String
    let options: ImageOptions
    let needs: ImageNeeds
}

/// What renders a file in the codec worker: the inputs that determine its bytes.
struct RenderKey: Hashable, Sendable {
    let mark: String
    let recipe: ImageRecipe
    let limits: RenderLimits
    var isRaw = false
    /// `true` when the file may be one without a name, which this process alone can open.
    var mayBeUnnamed = true
}

/// What decodes a file in the codec worker without writing one: the bytes to decode, and the limits.
struct VerificationKey: Hashable, Sendable {
    let mark: String
    let format: ImageFormat
    let limits: RenderLimits
}
