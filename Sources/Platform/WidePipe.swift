internal import CLinux

/// Enlarges pipes beyond their 64 KiB, so that a writer of much waits less often.
///
/// Pages are taken only for what is in a pipe, but count against the limit of one user's pipes: for pipes that are seen
/// to carry much. Does nothing with what is no pipe, or may not grow.
package enum WidePipe {
    /// The capacity in bytes: half of what Linux lets a user without privileges have for one pipe (`pipe-max-size`), and
    /// the 128th part of what it lets him have in all (`pipe-user-pages-soft`, 64 MiB).
    package static let capacity = 1 << 19

    package static func widen(_ descriptor: Int32) { hl_widen_pipe(descriptor, Int32(capacity)) }
}
