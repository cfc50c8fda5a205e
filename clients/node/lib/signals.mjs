import { setMaxListeners } from "node:events";

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
