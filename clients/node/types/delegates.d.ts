/** A request as it is to be sent. */
export interface DownloadDraft {
  url: string;
  headers: Record<string, string>;
}

/** A redirect that is about to be followed; `url` and `headers` are those of the next request. */
export interface Redirect extends DownloadDraft {
  /** The URL that redirects. */
  from: string;
  /** The status it redirects with. */
  status: number;
}

/** An answer, before its body is read. */
export interface AnswerHead {
  url: string;
  status: number;
  contentType: string | null;
}

/** A server or proxy that wants credentials. */
export interface Challenge {
  url: string;
  /** The host of that URL, or of the proxy. */
  host: string;
  realm: string | null;
  /** In small letters: `basic`, `digest`, `bearer`… */
  scheme: string;
  isProxy: boolean;
  /** How many answers it has turned down already. */
  failures: number;
}

/** What is said to a challenge: credentials to try, go on as without the question, or give the download up. */
export type ChallengeAnswer = { use: { user: string; password: string } | { bearer: string } } | "default" | "cancel";

/** What every handler gets besides the question: a signal that is aborted when its answer is no longer wanted. */
export interface DelegateContext {
  signal: AbortSignal;
}

type Answer<Result> = Result | undefined | void | Promise<Result | undefined | void>;

/**
 * Handlers that decide about downloads while they run. The server asks for those that are given, and waits ten seconds
 * (flag `--delegate-timeout`). A handler that returns nothing, throws or is late has no opinion: what would happen
 * without it happens.
 */
export interface Delegates {
  /** Changes a request before it is sent. `null` sends none, and the call fails with `downloadCancelledBeforeStarting`. */
  "downloader/modifyRequest"?: (request: DownloadDraft, context: DelegateContext) => Answer<Partial<DownloadDraft> | null>;
  /** Changes the request that follows a redirect. `null` stops, and the answer that redirects is judged as it is. */
  "downloader/redirect"?: (redirect: Redirect, context: DelegateContext) => Answer<Partial<DownloadDraft> | null>;
  /** Says whether the body of an answer is wanted; `null` leaves that to `validStatusCodes`. */
  "downloader/validateStatus"?: (answer: AnswerHead, context: DelegateContext) => Answer<{ accept: boolean } | null>;
  /** Says what to do about a server that wants credentials. */
  "downloader/challenge"?: (challenge: Challenge, context: DelegateContext) => Answer<ChallengeAnswer | null>;
}
