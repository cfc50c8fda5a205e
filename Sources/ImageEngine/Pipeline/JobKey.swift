internal import ImageRecipes
internal import Platform

/// The key of a job; requests with equal keys share one job.
enum JobKey: Hashable, Sendable {
    /// Loads an image and stores it.
    case load(Load)
    /// Loads a stored image again in the background.
    indirect case refresh(Refresh)
    /// Makes an image from its original and stores it.
    indirect case variant(Variant)
    /// Renders a file in the codec worker.
    indirect case render(Render)
    /// Decodes a file in the codec worker without writing one.
    indirect case verification(Verification)

    /// The image to load, the request that is sent for it, its storage, and the made image that is answered when the
    /// original has not changed.
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

    /// The stored image as found. A newly stored or confirmed image has another key, because it may be stale again
    /// before the refresh that brought it has ended.
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

    /// The image to make, the bytes that it is made from, and its storage.
    struct Variant: Hashable, Sendable {
        let cache: String
        let key: CacheKey
        let mark: String
        let options: ImageOptions
        let needs: ImageNeeds
    }

    /// The inputs that determine the bytes of the rendered file.
    struct Render: Hashable, Sendable {
        let mark: String
        let recipe: ImageRecipe
        let limits: RenderLimits
        /// `true` when the output is raw pixels instead of an image.
        var isRaw = false
    }

    /// The bytes to decode, and the limits.
    struct Verification: Hashable, Sendable {
        let mark: String
        let format: ImageFormat
        let limits: RenderLimits
    }
}

/// The work on one image.
typealias ImageJob = Job<JobKey, JobValue>

/// The value of a finished job.
enum JobValue: Sendable {
    /// A stored image.
    case image(ImageResult)
    /// A file that the codec worker has made.
    case rendered(RenderedFile)
    /// The reason why a file cannot be decoded; `nil` when it can.
    case verified(RenderFailure?)
}

/// The error when the value of a job does not fit its key.
struct UnexpectedJobValue: Error {}

extension JobValue {
    /// The value of a job that loads or makes an image.
    var image: Result<ImageResult, any Error> {
        guard case .image(let image) = self else { return .failure(UnexpectedJobValue()) }
        return .success(image)
    }

    /// The value of a job that renders a file.
    func file() throws -> RenderedFile {
        guard case .rendered(let file) = self else { throw UnexpectedJobValue() }
        return file
    }

    /// The value of a job that decodes a file: the reason why that failed; `nil` when it did not.
    func failure() throws -> RenderFailure? {
        guard case .verified(let failure) = self else { throw UnexpectedJobValue() }
        return failure
    }
}

extension JobTable<JobKey, JobValue> {
    /// The image with a hold: equal requests find it as long as a copy of this result exists.
    func holding(_ image: ImageResult, for key: JobKey) -> ImageResult {
        var held = image
        held.hold = hold(.image(image), for: key)
        return held
    }
}
