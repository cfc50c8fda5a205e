import { setMaxListeners } from "node:events";
import { cancellationError } from "./errors.mjs";

/**
 * Throws a `TypeError` for a signal that is none, such as the controller of one. One signal may be that of any number of
 * calls: Node does not warn of it.
 */
export function checkSignal(signal) {
  if (!signal) return;
  if (typeof signal.addEventListener !== "function") {
    throw new TypeError("`signal` must be an AbortSignal. Of an AbortController, give the member `signal`.");
  }
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
}

/**
 * Settles as `promise` does, as soon as it has settled; or rejects when `signal` is aborted before. With a signal and without
 * one it takes the same turns: who waits for one promise goes on in order.
 */
export function unlessAborted(promise, signal, method) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(cancellationError(signal.reason, method));
    const settle = (end) => (value) => {
      signal?.removeEventListener("abort", abort);
      end(value);
    };
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    promise.then(settle(resolve), settle(reject));
  });
}
