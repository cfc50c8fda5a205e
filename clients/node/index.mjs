export { Client } from "./lib/client.mjs";
export {
  AbortError,
  BinaryNotFoundError,
  ClientClosedError,
  ErrorCode,
  HalcyonError,
  MessageTooLargeError,
  ServerGoneError,
} from "./lib/errors.mjs";
