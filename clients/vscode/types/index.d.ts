import type { CancellationToken, Disposable, ExtensionContext } from "vscode";
import type { Events, Methods } from "./protocol.js";

export * from "./protocol.js";

/** How a call is made. */
export interface CallOptions {
  /**
   * Gives the call up: it rejects with the kind `requestCancelled` when the server has answered that, after a second in any
   * case. Others who want the same image still get it.
   */
  token?: CancellationToken;
  /** Is told how far a download is, at most ten times a second. `totalBytes` is null while it is not known. */
  onProgress?: (value: { receivedBytes: number; totalBytes: number | null; percentage?: number }) => void;
}

/** What a call rejects with. */
export interface HalcyonError extends Error {
  /** The stable name by which to decide: one of the protocol, or `serverGone`, `binaryNotFound`, `messageTooLarge`. */
  kind: string;
  /** The server's number; for a failure on this side a text such as `"HALCYON_SERVER_GONE"`. */
  code: number | string;
  /** What the server says besides, such as `statusCode`. */
  data: Record<string, unknown>;
  /** The method that was called. */
  method?: string;
  /** Whether the same call may succeed later without a change. */
  retryable: boolean;
  /** What to do about it. */
  hint?: string;
}

/** What other extensions get from `vscode.extensions.getExtension("halcyon.halcyon-vscode").activate()`. */
export interface API {
  /** Calls any method of the protocol; the server is started when it does not run. Rejects with a `HalcyonError`. */
  call<M extends keyof Methods>(method: M, params?: Methods[M]["params"], options?: CallOptions): Promise<Methods[M]["result"]>;
  /** Calls `listener` at every such event, also after the server was started again, until the result is disposed of. */
  on<E extends keyof Events>(event: E, listener: (params: Events[E]) => void): Disposable;
}

/** Called by VS Code. */
export function activate(context: ExtensionContext): API;

/** Called by VS Code at the end: lets the server end. */
export function deactivate(): Promise<void>;
