import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { encodeMessage, LineSplitter } from "../lib/framing.mjs";
import { Outbox } from "../lib/outbox.mjs";

function split(...chunks) {
  const lines = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  return lines;
}

test("a line split between any two bytes is one line with its characters whole", () => {
  const bytes = Buffer.from('{"key":"é🖼漢"}\n{"next":1}\n');
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(split(bytes.subarray(0, cut), bytes.subarray(cut)), ['{"key":"é🖼漢"}', '{"next":1}']);
  }
  assert.deepEqual(split(...Array.from(bytes, (byte) => [byte])), ['{"key":"é🖼漢"}', '{"next":1}']);
});

test("several lines in one chunk come in order and blank ones are left out", () => {
  assert.deepEqual(split("\n1\n\r\n2\n3"), ["1", "2"]);
});

test("a long line is joined once however many chunks it came in", (t) => {
  const concat = t.mock.method(Buffer, "concat");
  const chunk = Buffer.alloc(1024, "x");
  const [line] = split(...Array(1000).fill(chunk), "\n");
  assert.equal(line.length, 1024 * 1000);
  assert.equal(concat.mock.callCount(), 1);
});

test("an encoded message is one line even when its text has line ends", () => {
  assert.equal(encodeMessage({ id: 1, method: "a\nb" }), '{"jsonrpc":"2.0","id":1,"method":"a\\nb"}\n');
});

test("a message that the server cannot read is not encoded", () => {
  const half = "\ud83d";
  for (const value of [NaN, -Infinity, 2 ** 63, -(2 ** 64), half, `\\${half}`, `${half}${half}\udcbc`, { [half]: 1 }, [[half]]]) {
    assert.throws(() => encodeMessage({ method: "m", params: { value } }), TypeError, JSON.stringify(value));
  }
  for (const value of [2 ** 62, 1e21, 0.5, null, "🖼", "\\ud83d", "\\\\ud83d", "\\ude00"]) {
    assert.deepEqual(JSON.parse(encodeMessage({ params: { value } })).params, { value });
  }
});

test("a line that is too long to be text is given up once, and nothing after it is read", () => {
  const [lines, longs] = [[], []];
  const splitter = new LineSplitter((line) => lines.push(line), (head) => longs.push(head));
  const chunk = Buffer.alloc(2 ** 26, "x"); // shared: only its length counts
  splitter.push(Buffer.from("first\n"));
  for (let turn = 0; turn < 9; turn++) splitter.push(chunk);
  splitter.push(Buffer.from("\nlast\n"));
  assert.deepEqual(lines, ["first"]);
  assert.deepEqual(longs, ["x".repeat(100)]);
});

/** A stream that keeps each write apart, and takes it only when the test says so. */
function slowStream() {
  const writes = [];
  const stream = new Writable({
    highWaterMark: 1,
    decodeStrings: false,
    write(text, _encoding, done) {
      writes.push(text);
      stream.take = done;
    },
  });
  return { stream, writes };
}

const turn = () => new Promise(setImmediate);

test("messages of one turn leave in one write", async () => {
  const { stream, writes } = slowStream();
  const outbox = new Outbox(stream);
  for (let index = 0; index < 1000; index++) outbox.push("m\n");
  await turn();
  assert.deepEqual(writes, ["m\n".repeat(1000)]);
});

test("while the stream asks to wait, messages can be taken back and urgent ones overtake", async () => {
  const { stream, writes } = slowStream();
  const outbox = new Outbox(stream);
  const first = outbox.push("first\n");
  await turn();
  const second = outbox.push("second\n");
  outbox.push("third\n");
  outbox.pushFirst("urgent\n");
  outbox.pushFirst("urgent too\n");
  await turn();
  assert.deepEqual(writes, ["first\n"]);
  assert.equal(outbox.takeBack(first), false);
  assert.equal(outbox.takeBack(second), true);
  stream.take();
  await turn();
  assert.deepEqual(writes, ["first\n", "urgent\nurgent too\nthird\n"]);
});

test("the end of the outbox comes after all that waits", async () => {
  const { stream, writes } = slowStream();
  const outbox = new Outbox(stream);
  outbox.push("first\n");
  await turn();
  outbox.push("second\n");
  outbox.end();
  stream.take();
  await turn();
  stream.take();
  await turn();
  assert.deepEqual(writes, ["first\n", "second\n"]);
  assert.equal(stream.writableFinished, true);
});
