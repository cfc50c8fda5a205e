internal import CCurl
internal import HTTPSemantics
internal import Platform

/// Decisions about the body by the head of a response.
extension Transfer {
    /// Handles a complete head before the body begins, which may never happen.
    ///
    /// - Returns: `true` when that has ended the transfer.
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
        case 401: command.outgoing.scheme != "digest" || command.outgoing.digest != nil
        case 407: isProxyFinal
        default: true
        }
    }

    /// `true` when libcurl does not answer a proxy's challenge by itself.
    private var isProxyFinal: Bool { command.outgoing.proxyLogin?.mayBeDigest != true }

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
        response.url = command.outgoing.url.text
        response.isConfirmation = status == 304 && command.validators != nil
        if RedirectPolicy.redirects(status: status, location: location) {
            let redirect = RedirectConstraints.Redirect(status: status, fields: response.fields)
            disposition = .discarded(.redirect(redirect, location: location ?? ""))
            return
        }
        if let challenge { return disposition = .discarded(challenge) }
        if status == 200, command.ownPart == nil {
            // The partial body of another user is given up.
            command.part?.file.drop()
        } else if let part = command.ownPart {
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
        if command.ask != nil, hasBody, !response.isConfirmation {
            disposition = .asking
            pace.pause()
            command.ask?(TransferCommand.Head(status: status, contentType: response.contentType, url: response.url))
        } else {
            decide(accepted: nil)
        }
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
        return command.answers(status: status, challenges) ? .challenge(status: status, challenges) : nil
    }

    private func decide(accepted: Bool?) {
        if let error = request.error(in: response, accepted: accepted) {
            abortError = error
            disposition = .unknown
        } else {
            if request.canResume, let note = ResumeNote(response, length: total, login: command.login) {
                spool.makeResumable(as: request, note)
            }
            collectBody()
        }
    }

    private func collectBody() {
        disposition = .wanted
        if let total, total > request.limits.maxBytes {
            abortError = tooLarge
            disposition = .unknown
        } else {
            command.transferActivity.setAnswer(response, redirects: command.redirects)
        }
    }

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
            let code = hc_resume(easy)
            if code == CURLE_OK { return false }
            fail(abortError ?? error(code))
            return true
        }
        return complete(CURLE_OK)
    }
}
