internal import CCurl
internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// Decisions about the body by the head of a response.
extension Transfer {
    /// Handles a head that libcurl has read, if it is complete. Returns `true` when that has ended the transfer.
    func handleHead() -> Bool {
        guard hasHead, case .unknown = disposition, isFinal else { return false }
        if abortError == nil { decide(hasBody: true) }
        if let abortError { fail(abortError) }
        return abortError != nil
    }

    /// `true` when it is decided whether the body is collected or discarded.
    package var isDecided: Bool {
        switch disposition {
        case .wanted, .discarded: true
        case .unknown, .asking: false
        }
    }

    /// `true` while the transfer only waits for the end of a discarded body.
    var isDiscarding: Bool { if case .discarded = disposition { true } else { false } }

    /// `true` when the head is that of the final response: not an interim response, not a proxy's response to CONNECT,
    /// and not a challenge that libcurl answers by itself.
    var isFinal: Bool {
        switch hc_info_long(easy, CURLINFO_RESPONSE_CODE) {
        // A proxy that demands credentials before the tunnel exists, when somebody can supply them.
        case ..<200:
            hc_info_long(easy, CURLINFO_HTTP_CONNECTCODE) == 407 && isProxyFinal && challenge != nil
        case 401: prepared.sent.scheme != "digest" || prepared.sent.digest != nil
        case 407: isProxyFinal
        default: true
        }
    }

    /// `true` when libcurl does not answer a proxy's challenge by itself.
    private var isProxyFinal: Bool { prepared.sent.proxyLogin?.mayBeDigest != true }

    /// Decides about the body by its head. When the response is rejected, `disposition` stays unknown and `abortError`
    /// holds the reason.
    package func decide(hasBody: Bool) {
        defer { if isDiscarding { pace.discard(at: monotonicNanoseconds()) } }
        if hasBody {
            let length = hc_info_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
            total = length >= 0 ? Int(length) : nil
        }
        let status = hc_info_long(easy, CURLINFO_RESPONSE_CODE)
        response.status = status
        response.url = prepared.sent.url.text
        response.isConfirmation = status == 304 && prepared.validators != nil
        if [301, 302, 303, 307, 308].contains(status), let location, !location.isEmpty {
            let redirect = RedirectConstraints.Redirect(status: status, fields: response.fields)
            return disposition = .discarded(.redirect(redirect, location: location))
        }
        if let challenge { return disposition = .discarded(challenge) }
        if status == 200, prepared.ownPart == nil {
            // The partial body of another user is given up.
            prepared.part?.file.drop()
        } else if let part = prepared.ownPart {
            switch part.note.verdict(on: response, offset: part.file.count, length: total) {
            case .continues:
                spool.resume(with: part)
                resumedBytes = part.file.count
                total = total.map { $0 + part.file.count } ?? part.note.total
                // To all callers this is the complete response.
                response.status = 200
                return collectBody()
            case .unusable: return disposition = .discarded(.restart)
            case .isWhole: part.file.drop()
            case .unrelated: break
            }
        }
        guard let delegate = prepared.validator, !response.isConfirmation else { return decide(accepted: nil) }
        disposition = .asking
        pace.pause()
        question = prepared.ask(delegate, about: response, transfer: id)
    }

    /// The challenge of the server or proxy, if the exchange answers it.
    package var challenge: HTTPOutcome.Kind? {
        let (status, field) =
            switch hc_info_long(easy, CURLINFO_RESPONSE_CODE) {
            case 401: (401, "www-authenticate")
            case 407: (407, "proxy-authenticate")
            default: hc_info_long(easy, CURLINFO_HTTP_CONNECTCODE) == 407 ? (407, "proxy-authenticate") : (0, "")
            }
        guard let challenges = response.fields[field].map({ ChallengeList($0) }) else { return nil }
        return prepared.answers(status: status, challenges) ? .challenge(status: status, challenges) : nil
    }

    private func decide(accepted: Bool?) {
        self.accepted = accepted
        collectBody()
        guard case .wanted = disposition, request.canResume,
            let note = ResumeNote(response, length: total, login: prepared.login)
        else { return }
        spool.makeResumable(as: request, note)
    }

    private func collectBody() {
        abortError = limitError() ?? beginDecoding()
        disposition = abortError == nil ? .wanted : .unknown
    }

    /// Prepares for a compressed body, whose size nobody knows. Returns the error when it cannot be decoded.
    private func beginDecoding() -> ImageError? {
        guard let codings = response.codings, !codings.isEmpty else { return nil }
        if response.status == 206, !(response.fields["content-range"]?.contains("bytes 0-") ?? false) {
            let reason = "It is a part, from the middle, of what the server compressed."
            return .badData(reason: reason, source: request.url)
        }
        do { decoder = try BodyDecoder(codings) } catch { return decodingError(error) }
        total = nil
        return nil
    }

    /// Ends a compressed body. Returns the error when its end has not come.
    package func endDecoding() -> ImageError? {
        guard let decoder else { return nil }
        // Of a part only the beginning is known.
        do { if response.status != 206 { try decoder.finish() } } catch { return decodingError(error) }
        response.noteDecoded(count: spool.count, hasEnded: decoder.hasEnded)
        return nil
    }

    func decodingError(_ failure: BodyDecoder.Failure) -> ImageError {
        failure.error(
            of: request.url, contentType: response.contentType, firstBytes: decoder?.firstBytes ?? [])
    }

    /// The size of what has come of the body, which may be compressed.
    var bodyBytes: Int { decoder?.received ?? spool.count }

    /// Continues with a body that was paused until a delegate decided about it.
    ///
    /// - Returns: `true` when that has ended the transfer.
    package func decide(by answer: Result<Bool?, any Error>) -> Bool {
        guard case .asking = disposition else { return false }
        switch answer {
        case .failure(let error):
            fail(error)
            return true
        case .success(let accepted): decide(accepted: accepted)
        }
        if abortError == nil, !isComplete {
            pace.resume(at: monotonicNanoseconds())
            return resume()
        }
        return complete(CURLE_OK)
    }
}
