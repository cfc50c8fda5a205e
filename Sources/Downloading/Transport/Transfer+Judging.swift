internal import CCurl
internal import HTTPSemantics
internal import Platform

/// What a head says of what is done with the body.
extension Transfer {
    /// Judges a head whose body has not begun to come, and may never do so.
    ///
    /// - Returns: Whether that has ended the transfer.
    func judgeHead() -> Bool {
        guard hasHead, case .unknown = disposition, isFinal else { return false }
        if verdict == nil { judge(hasBody: true) }
        if let verdict { fail(verdict) }
        return verdict != nil
    }

    /// Whether it is known what is done with the body.
    package var isSettled: Bool {
        switch disposition {
        case .wanted, .passedBy: true
        case .unknown, .asking: false
        }
    }

    /// Whether it only waits for a body that nobody wants.
    var isPassedBy: Bool { if case .passedBy = disposition { true } else { false } }

    /// Whether the head is that of the answer: not of an answer to come, nor of a proxy's consent, nor one to which libcurl
    /// answers with credentials by itself.
    var isFinal: Bool {
        switch hc_info_long(easy, CURLINFO_RESPONSE_CODE) {
        // A proxy that wants credentials before it connects us, and somebody has some.
        case ..<200:
            hc_info_long(easy, CURLINFO_HTTP_CONNECTCODE) == 407 && isProxyFinal && challenge != nil
        case 401: order.outgoing.scheme != "digest" || order.outgoing.digest != nil
        case 407: isProxyFinal
        default: true
        }
    }

    /// Whether libcurl does not answer a proxy's challenge by itself.
    private var isProxyFinal: Bool { order.outgoing.proxyLogin?.mayBeDigest != true }

    /// Decides what is done with the body; `disposition` stays unknown if it is refused, for `verdict` then says why.
    package func judge(hasBody: Bool) {
        defer { if isPassedBy { pace.lose(at: monotonicNanoseconds()) } }
        if hasBody {
            let length = hc_info_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
            total = length >= 0 ? Int(length) : nil
        }
        let status = hc_info_long(easy, CURLINFO_RESPONSE_CODE)
        response.status = status
        response.url = order.outgoing.url.text
        response.isConfirmation = status == 304 && order.validators != nil
        if RedirectPolicy.redirects(status: status, location: location) {
            let redirect = RedirectConstraints.Redirect(status: status, fields: response.fields)
            disposition = .passedBy(.redirect(redirect, location: location ?? ""))
            return
        }
        if let challenge { return disposition = .passedBy(challenge) }
        if status == 200, order.ownPart == nil {
            // Another user's gives way.
            order.part?.file.drop()
        } else if let part = order.ownPart {
            switch part.note.judge(response, offset: part.file.count, length: total) {
            case .goesOn:
                spool.goOn(with: part)
                resumedBytes = part.file.count
                total = total.map { $0 + part.file.count } ?? part.note.total
                // To everybody else this is the whole.
                response.status = 200
                return want()
            case .isUseless: return disposition = .passedBy(.restart)
            case .begins: part.file.drop()
            case .isOther: break
            }
        }
        if order.ask != nil, hasBody, !response.isConfirmation {
            disposition = .asking
            pace.hold()
            order.ask?(TransferCommand.Head(status: status, contentType: response.contentType, url: response.url))
        } else {
            decide(accepted: nil)
        }
    }

    /// What the server or the proxy wants, if somebody answers that.
    package var challenge: HTTPOutcome.Kind? {
        let (status, field) =
            switch hc_info_long(easy, CURLINFO_RESPONSE_CODE) {
            case 401: (401, "www-authenticate")
            case 407: (407, "proxy-authenticate")
            default: hc_info_long(easy, CURLINFO_HTTP_CONNECTCODE) == 407 ? (407, "proxy-authenticate") : (0, "")
            }
        guard let challenges = response.fields[field].map({ ChallengeList($0) }) else { return nil }
        return order.answers(status: status, challenges) ? .challenge(status: status, challenges) : nil
    }

    private func decide(accepted: Bool?) {
        if let refusal = request.refusal(of: response, accepted: accepted) {
            verdict = refusal
            disposition = .unknown
        } else {
            if request.canResume, let note = ResumeNote(response, length: total, login: order.login) {
                spool.keep(as: request, note)
            }
            want()
        }
    }

    private func want() {
        disposition = .wanted
        if let total, total > request.limits.maxBytes {
            verdict = tooLarge
            disposition = .unknown
        } else {
            order.transferActivity.note(response, redirects: order.redirects)
        }
    }

    /// Goes on with a body that was held back until somebody had said whether it is wanted.
    ///
    /// - Returns: Whether that has ended the transfer.
    package func judge(_ answer: Result<Bool?, any Error>) -> Bool {
        guard case .asking = disposition else { return false }
        switch answer {
        case .failure(let error):
            fail(error)
            return true
        case .success(let accepted): decide(accepted: accepted)
        }
        if verdict == nil, !isComplete {
            pace.release(at: monotonicNanoseconds())
            let code = hc_resume(easy)
            if code == CURLE_OK { return false }
            fail(verdict ?? error(code))
            return true
        }
        return complete(CURLE_OK)
    }
}
