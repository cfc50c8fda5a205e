/// The failure of an operation of a ``RemoteStorage``. It names no address: that may contain a password.
package enum RemoteError: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    case timedOut
    /// The engine has answered that it will not.
    case refused(String)
    /// The engine has answered that it cannot now.
    case failed(String)
    /// The engine is a cluster that moves the object, or tells for now no node that has it.
    case rearranging
    /// The object is larger than the tier takes.
    case tooLarge
    /// The answer is none that the protocol knows.
    case malformed
    case unsupported

    package var description: String {
        switch self {
        case .unreachable(let reason): "it cannot be reached: \(reason)"
        case .timedOut: "it did not answer in time"
        case .refused(let reason): "it refused: \(reason)"
        case .failed(let reason): "it failed: \(reason)"
        case .rearranging: "its cluster is being rearranged"
        case .tooLarge: "it has a larger object than remoteMaxBytes allows"
        case .malformed: "it answered something that its protocol does not know"
        case .unsupported: "it has no such operation"
        }
    }
}
