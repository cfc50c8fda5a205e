/// A system call on a file or folder that failed.
package struct SystemError: Error, Equatable {
    /// The value of `errno`.
    package let code: Int32
    /// What was tried, as a verb: "open", "make the folder".
    package let action: String
    /// The path that it was tried on.
    package let path: String

    /// The failure of `action` on `path` with an `errno`.
    package init(_ code: Int32, _ action: String, _ path: String) {
        self.code = code
        self.action = action
        self.path = path
    }
}
