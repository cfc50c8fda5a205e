// Made by clients/generate.py from protocol/openrpc.json.
import type { BasicCredentials, BearerAuthorization, ImageOptionsBodyBase64 } from "./options.js";

/** A request as it is to be sent: what `downloader/modifyRequest` asks about. */
export interface DownloadDraft {
  /** The URL. */
  url: string;
  /** The HTTP method. */
  method: "GET" | "POST" | "PUT";
  /** Header fields by name. */
  headers: Record<string, string>;
}

/** What is to be otherwise about a request; what is left out stays. */
export interface DownloadChange {
  /** The URL. */
  url?: string;
  /** Header fields by name. */
  headers?: Record<string, string>;
  /** The HTTP method. */
  method?: "GET" | "POST" | "PUT";
  /** The body to send. */
  body?: string | ImageOptionsBodyBase64;
}

/** A request as it is to be sent now; null sends none, or does not follow a redirect. */
export type DownloadAnswer = DownloadChange | null;

/** A redirect that is about to be followed; `url` and `headers` are those of the next request. */
export interface Redirect {
  /** The URL that redirects. */
  from: string;
  /** The status it redirects with. */
  statusCode: number;
  /** @deprecated Former name of statusCode. */
  status: number;
  /** The URL. */
  url: string;
  /** The HTTP method. */
  method: "GET" | "POST" | "PUT";
  /** Header fields by name. */
  headers: Record<string, string>;
}

/** An answer, before its body is read. */
export interface AnswerHead {
  /** The URL. */
  url: string;
  /** The status code of the response. */
  statusCode: number;
  /** @deprecated Former name of statusCode. */
  status: number;
  /** The declared media type. */
  contentType: string | null;
}

/** Whether the body of an answer is wanted. */
export interface Acceptance {
  /** Whether to accept the response. */
  accept: boolean;
}

/** Whether the body is wanted; null leaves that to `validStatusCodes`. */
export type StatusAnswer = Acceptance | null;

/** A server or proxy that wants credentials. */
export interface Challenge {
  /** The URL. */
  url: string;
  /** The host of that URL, or of the proxy. */
  host: string;
  /** The realm of the challenge. */
  realm: string | null;
  /** In small letters: basic, digest, bearer and others. */
  scheme: string;
  /** Whether a proxy asks for credentials. */
  isProxy: boolean;
  /** How many answers it has turned down already. */
  failures: number;
}

/** The credentials that a server gets. */
export interface ChallengeCredentials {
  /** The credentials to use. */
  use: BasicCredentials | BearerAuthorization;
}

/** Credentials to try, "default" to go on as without the question, "cancel" to give the download up. */
export type ChallengeAnswer = "default" | "cancel" | ChallengeCredentials | null;

/** The questions there are, by name, with what is asked and what may be answered. */
export interface Questions {
  /**
   * How should this request be sent? Null sends nothing, and the download fails with downloadCancelledBeforeStarting.
   */
  "downloader/modifyRequest": { question: DownloadDraft; answer: DownloadAnswer };
  /** How should this redirect be followed? Null stops here, and the redirecting response itself is judged. */
  "downloader/redirect": { question: Redirect; answer: DownloadAnswer };
  /** Is the body of this response wanted? Null decides by validStatusCodes. */
  "downloader/validateStatus": { question: AnswerHead; answer: StatusAnswer };
  /** Which credentials should this server get? "default" continues as if not asked, "cancel" gives up. */
  "downloader/challenge": { question: Challenge; answer: ChallengeAnswer };
}
