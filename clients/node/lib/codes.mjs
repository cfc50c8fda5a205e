// Made by clients/generate.py from protocol/openrpc.json.

/** The stable codes the server answers with, by name. */
export const ErrorCode = Object.freeze({
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  requestCancelled: -32800,
  serverCancelled: -32802,
  badData: 10000,
  notModified: 10001,
  invalidStatusCode: 10002,
  notCached: 10003,
  processingFailed: 10004,
  limitExceeded: 10005,
  dataModifyingFailed: 10006,
  invalidURL: 20000,
  connectionFailed: 20001,
  timedOut: 20002,
  tlsFailed: 20003,
  forbiddenAddress: 20004,
  unreadableFile: 20005,
  downloadCancelledBeforeStarting: 30000,
  storageFailed: 40000,
});

/** How many bytes the server reads as one message. */
export const maxMessageBytes = 67108864;
