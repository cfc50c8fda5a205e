// Made by clients/generate.py from protocol/openrpc.json.

/** The stable codes the server answers with, by name. */
export const ErrorCode: Readonly<{
  /** The server could not read a message as JSON. */
  parseError: -32700;
  /** A message was JSON but no request, or came after shutdown. */
  invalidRequest: -32600;
  /** The server has no method of that name. */
  methodNotFound: -32601;
  /** A parameter is missing, unknown, or of the wrong type. */
  invalidParams: -32602;
  /** Something went wrong inside the server. */
  internalError: -32603;
  /** The request was cancelled. */
  requestCancelled: -32800;
  /** The server is shutting down. */
  serverCancelled: -32802;
  /** The bytes are not an image that the engine can read, or they are cut off. */
  badData: 10000;
  /** A 304 came to a request that carried no validator. */
  notModified: 10001;
  /** The server answered with a status that is not accepted. */
  invalidStatusCode: 10002;
  /** The cache does not have it, and nothing may be loaded for it. */
  notCached: 10003;
  /** A processor could not do its work, or there is no codec worker. */
  processingFailed: 10004;
  /** A limit was exceeded; data.limit names it. */
  limitExceeded: 10005;
  /** The downloaded bytes are not what dataModifier expects. */
  dataModifyingFailed: 10006;
  /** The text is not a URL that may be loaded. */
  invalidURL: 20000;
  /** The server could not be reached, or closed the connection early. */
  connectionFailed: 20001;
  /** No bytes came for too long, or the whole request took too long. */
  timedOut: 20002;
  /** The certificate or the handshake failed. */
  tlsFailed: 20003;
  /** The configuration does not allow the host or the network. */
  forbiddenAddress: 20004;
  /** There is no such file, or it cannot be read. */
  unreadableFile: 20005;
  /** The client, asked about the request, wanted none to be sent. */
  downloadCancelledBeforeStarting: 30000;
  /** The cache folder cannot be used; data.hint says what to do. */
  storageFailed: 40000;
}>;
