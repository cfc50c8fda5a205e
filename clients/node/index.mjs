export { Client } from "./lib/client.mjs";
export { ErrorCode } from "./lib/codes.mjs";
export {
  AbortError,
  BinaryNotFoundError,
  ClientClosedError,
  HalcyonError,
  MessageTooLargeError,
  ServerGoneError,
} from "./lib/errors.mjs";
export { createReadStream } from "./lib/streams.mjs";
