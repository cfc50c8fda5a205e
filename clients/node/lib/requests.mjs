import path from "node:path";
import { toPath } from "./binary.mjs";
import { maxMessageBytes } from "./codes.mjs";
import { MessageTooLargeError } from "./errors.mjs";

/** A string or a URL stands for the one parameter that every request has. */
export function named(name, request) {
  return typeof request === "string" || request instanceof URL ? { [name]: String(request) } : request;
}

/** The same for many. A text is no list, though it could be gone through. */
export function listOf(name, requests) {
  if (typeof requests === "string") throw new TypeError("The requests must be a list, not a text.");
  return Array.from(requests, (request) => named(name, request));
}

/** The params of `store`: absolute paths, bytes as base64. */
export function stored({ data, path: file, ...rest }) {
  const params = { ...rest };
  if (file !== undefined) params.path = path.resolve(toPath(file));
  if (data !== undefined) params.data = base64(data);
  return params;
}

/** The params of a request that has a path, or is one. */
export function located(request) {
  const { path: file, ...rest } = typeof request === "string" || request instanceof URL ? { path: request } : request;
  return { ...rest, path: path.resolve(toPath(file)) };
}

/** A result with its bytes as bytes. */
export function withBytes(result) {
  return typeof result?.data === "string" ? { ...result, data: Buffer.from(result.data, "base64") } : result;
}

function base64(data) {
  if (!(data instanceof Uint8Array)) throw new TypeError("`data` must be a Buffer or a Uint8Array.");
  // In base64 it may be longer than any text.
  if (data.byteLength > maxMessageBytes) throw new MessageTooLargeError("store", data.byteLength, maxMessageBytes);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}
