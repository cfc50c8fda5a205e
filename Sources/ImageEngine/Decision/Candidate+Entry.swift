extension ImageCache.Candidate {
    /// What a ``RetrievalPolicy`` wants to know of it.
    ///
    /// - Parameter scopes: In which the request may be answered; the first is that of what it sends itself.
    func entry(for scopes: [HTTPScope], at moment: Int) -> RetrievalPolicy.Entry {
        let record = hit.record
        let answer = record.answer
        let scope = scopes.first ?? HTTPScope()
        return RetrievalPolicy.Entry(
            expiredFor: expiredFor, freshness: answer?.freshness,
            age: answer?.metadata.age(at: moment) ?? HTTPFreshness.span(from: record.storedAt, to: moment),
            // Of what came before such things were kept, nobody knows whose it is.
            suits: answer.map { answer in scopes.contains { answer.metadata.suits($0) } }
                ?? (scope.credentials == nil),
            isForeign: !hit.record.belongs(to: scopes),
            hasValidators: validators(for: scope) != nil)
    }
}
