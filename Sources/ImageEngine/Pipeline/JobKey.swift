internal import ImageRecipes
internal import Platform

/// What makes two requests share one job.
enum JobKey: Hashable, Sendable {
    /// An image is loaded and stored.
    case load(Load)
    /// A stored image is loaded again in the background.
    case refresh(Refresh)
    /// An image is made of its original and stored.
    case variant(Variant)
    /// The worker makes a file.
    case render(Render)
    /// The worker decodes a file and writes nothing.
    case verification(Verification)

    /// The image that is loaded, the request that is sent for it, how it is stored, and the made image that is answered when
    /// the original has not changed.
    struct Load: Hashable, Sendable {
        let plan: FetchPlan

        static func == (one: Load, other: Load) -> Bool {
            let (one, other) = (one.plan, other.plan)
            return one.cache === other.cache && one.key == other.key && one.request == other.request
                && one.storing == other.storing && one.needs == other.needs
                && one.storedCandidate?.variant == other.storedCandidate?.variant
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(plan.key)
            hasher.combine(plan.request)
        }
    }

    /// The image as it was found. One that has been stored or confirmed since is another, which may be stale again before
    /// the refresh that brought it has ended.
    struct Refresh: Hashable, Sendable {
        let cache: String
        let key: CacheKey
        let storedAt: Int
        let confirmedAt: Int?

        init(_ cache: String, _ record: ImageRecord) {
            (self.cache, key, storedAt) = (cache, record.key, record.storedAt)
            confirmedAt = record.answer?.metadata.receivedAt
        }
    }

    /// The image that is made, the bytes it is made of, and how it is stored.
    struct Variant: Hashable, Sendable {
        let cache: String
        let key: CacheKey
        let mark: String
        let options: ImageOptions
        let needs: ImageNeeds
    }

    /// What decides which bytes the worker makes.
    struct Render: Hashable, Sendable {
        let mark: String
        let recipe: ImageRecipe
        let limits: RenderLimits
        /// `true` when it makes raw pixels instead of an image.
        var isRaw = false
    }

    /// The bytes that are decoded, and within which limits.
    struct Verification: Hashable, Sendable {
        let mark: String
        let format: ImageFormat
        let limits: RenderLimits
    }
}

/// What a job has brought.
enum JobValue: Sendable {
    /// A stored image.
    case image(ImageResult)
    /// A file that the worker has made.
    case rendered(RenderedFile)
    /// Why a file cannot be decoded; `nil` when it can.
    case verified(RenderFailure?)
}

/// A job has brought something else than its key says.
struct UnexpectedJobValue: Error {}

extension JobValue {
    /// The image of a job that loads or makes one.
    var image: Result<ImageResult, any Error> {
        guard case .image(let image) = self else { return .failure(UnexpectedJobValue()) }
        return .success(image)
    }

    /// The file of a job of the worker.
    func file() throws -> RenderedFile {
        guard case .rendered(let file) = self else { throw UnexpectedJobValue() }
        return file
    }

    /// Why a file cannot be decoded, from a job that decodes it.
    func failure() throws -> RenderFailure? {
        guard case .verified(let failure) = self else { throw UnexpectedJobValue() }
        return failure
    }
}

extension JobTable<JobKey, JobValue> {
    /// The image, which requests for the same find as long as there is a copy of what this returns.
    func holding(_ image: ImageResult, for key: JobKey) -> ImageResult {
        var held = image
        held.hold = hold(.image(image), for: key)
        return held
    }
}
