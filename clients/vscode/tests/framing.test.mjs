import assert from "node:assert/strict";
import { test } from "node:test";
import { requireExtension } from "./support/vscode.mjs";

const { encodeFrame, frame, FrameReader } = requireExtension("./lib/framing.js");

function read(chunks) {
  const bodies = [];
  const reader = new FrameReader((body) => bodies.push(body));
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return bodies;
}

test("a frame counts bytes, not characters", () => {
  assert.equal(frame('"é"').toString(), 'Content-Length: 4\r\n\r\n"é"');
  assert.equal(encodeFrame({ id: 1, method: "ping" }).toString(), 'Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"ping"}');
});

test("frames are found however the bytes are cut", () => {
  const bytes = Buffer.concat([frame('"é😀"'), frame("[]"), frame("2")]);
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = [];
    for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
    assert.deepEqual(read(chunks), ['"é😀"', "[]", "2"], `in chunks of ${size}`);
  }
});

test("other headers and other letter cases are accepted", () => {
  const head = "content-length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n";
  assert.deepEqual(read([`${head}{}`]), ["{}"]);
});

test("a long frame in small chunks is joined once", () => {
  const body = JSON.stringify("x".repeat(4_000_000));
  const bytes = frame(body);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 4096) }, (_, index) => bytes.subarray(index * 4096, (index + 1) * 4096));
  const concat = Buffer.concat;
  let joined = 0;
  Buffer.concat = (list) => {
    joined += list.length;
    return concat(list);
  };
  try {
    assert.deepEqual(read(chunks), [body]);
  } finally {
    Buffer.concat = concat;
  }
  assert.ok(joined <= 2 * chunks.length, `${joined} pieces were joined`);
});

test("what begins no frame is refused", () => {
  assert.throws(() => read(["Hello\r\n\r\n"]), /no Content-Length in "Hello"/);
  for (const text of ["Hello, world", '{"jsonrpc"', "Hello\n", "Content-Type: x\r\n".repeat(600)]) {
    assert.throws(() => read([text]), /no header in/, text);
  }
});
