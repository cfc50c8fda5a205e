extension Result {
    /// The success made another one by something that may fail in the same way; a failure stays what it is.
    @inlinable public func tryMap<New>(_ transform: (Success) throws(Failure) -> New) -> Result<New, Failure> {
        flatMap { value in
            do throws(Failure) { return .success(try transform(value)) } catch { return .failure(error) }
        }
    }
}
