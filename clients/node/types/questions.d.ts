// Made by clients/generate.py from protocol/openrpc.json.
import type { BasicCredentials, BearerAuthorization, ImageOptionsBodyBase64 } from "./options.js";

/** A request as it is to be sent: what `downloader/modifyRequest` asks about. */
export interface DownloadDraft {
  url: string;
  method: "GET" | "POST" | "PUT";
  headers: Record<string, string>;
}

/** What is to be otherwise about a request; what is left out stays. */
export interface DownloadChange {
  url?: string;
  headers?: Record<string, string>;
  method?: "GET" | "POST" | "PUT";
  body?: string | ImageOptionsBodyBase64;
}

/** A request as it is to be sent now; null sends none, or does not follow a redirect. */
export type DownloadAnswer = DownloadChange | null;

/** A redirect that is about to be followed; `url` and `headers` are those of the next request. */
export interface Redirect {
  /** The URL that redirects. */
  from: string;
  /** The status it redirects with. */
  status: number;
  url: string;
  method: "GET" | "POST" | "PUT";
  headers: Record<string, string>;
}

/** An answer, before its body is read. */
export interface AnswerHead {
  url: string;
  status: number;
  contentType: string | null;
}

/** Whether the body of an answer is wanted. */
export interface Acceptance {
  accept: boolean;
}

/** Whether the body is wanted; null leaves that to `validStatusCodes`. */
export type StatusAnswer = Acceptance | null;

/** A server or proxy that wants credentials. */
export interface Challenge {
  url: string;
  /** The host of that URL, or of the proxy. */
  host: string;
  realm: string | null;
  /** In small letters: basic, digest, bearer and others. */
  scheme: string;
  isProxy: boolean;
  /** How many answers it has turned down already. */
  failures: number;
}

/** The credentials that a server gets. */
export interface ChallengeCredentials {
  use: BasicCredentials | BearerAuthorization;
}

/** Credentials to try, "default" to go on as without the question, "cancel" to give the download up. */
export type ChallengeAnswer = "default" | "cancel" | ChallengeCredentials | null;

/** The questions there are, by name, with what is asked and what may be answered. */
export interface Questions {
  /** How is this request to be sent? Null sends none, and the download fails with downloadCancelledBeforeStarting. */
  "downloader/modifyRequest": { question: DownloadDraft; answer: DownloadAnswer };
  /** How is this redirect to be followed? Null stops here, and the answer that redirects is judged as it is. */
  "downloader/redirect": { question: Redirect; answer: DownloadAnswer };
  /** Is the body of this answer wanted? Null judges it by validStatusCodes. */
  "downloader/validateStatus": { question: AnswerHead; answer: StatusAnswer };
  /** Which credentials does this server get? "default" goes on as without the question, "cancel" gives up. */
  "downloader/challenge": { question: Challenge; answer: ChallengeAnswer };
}
