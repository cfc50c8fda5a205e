internal import CLinux

/// Lets a pipe hold more than the 64 KiB it begins with, so that whoever writes much into it waits less often.
///
/// Pages are taken only for what is in it, but count against what the system lets one user's pipes have: for pipes that
/// are seen to carry much. Does nothing with what is no pipe, or may not grow.
package enum WidePipe {
    /// How many bytes it holds: half of what Linux lets a user without privileges have for one (`pipe-max-size`); of all that
    /// it lets him have (`pipe-user-pages-soft`, 64 MiB) the 128th part.
    package static let capacity = 1 << 19

    package static func widen(_ descriptor: Int32) { hl_widen_pipe(descriptor, Int32(capacity)) }

    /// How many bytes it holds now; nil when it is no pipe.
    package static func capacity(of descriptor: Int32) -> Int? {
        let bytes = hl_pipe_capacity(descriptor)
        return bytes < 0 ? nil : Int(bytes)
    }
}
