/// What a job is about: callers that ask for equal ones share it.
///
/// Keys and values of jobs are known by protocols instead of type parameters, because jobs are used by another module, for
/// which the compiler makes no code of its own.
package protocol JobKey: AnyObject, Sendable {
    /// Equal for equal keys.
    var hash: Int { get }
    /// `true` when those who ask for the other one may share the job.
    func isEqual(to other: any JobKey) -> Bool
}

/// A value that is hashed once, and compared in full only with those of the same hash: it may be a whole request with its
/// options. A reference, for it is held in many places at once.
package final class HashedOnce<Value: Hashable & Sendable>: JobKey, Hashable {
    /// The value.
    package let value: Value
    package let hash: Int

    package init(_ value: Value) {
        self.value = value
        hash = value.hashValue
    }

    package static func == (one: HashedOnce, other: HashedOnce) -> Bool {
        one === other || one.hash == other.hash && one.value == other.value
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    package func isEqual(to other: any JobKey) -> Bool { (other as? HashedOnce<Value>).map { self == $0 } ?? false }
}
