import assert from "node:assert/strict";
import { test } from "node:test";
import { mismatch } from "./support/patterns.mjs";
import { Wire } from "./support/wire.mjs";
import { atEnd } from "./support/servers.mjs";

test("a pattern matches what it describes and nothing else", () => {
  const value = { id: 1, list: [1, "a"], text: "hello", none: null, half: 0.5 };
  const matching = [
    {},
    { id: 1, none: null },
    { list: [1, { $any: true }] },
    { list: { $length: 2 }, text: { $regex: "^h.*o$" }, gone: { $absent: true } },
    { id: { $type: "integer" }, half: { $type: "number" }, none: { $type: "null" }, list: { $type: "array" } },
  ];
  const failing = [
    { id: "1" },
    { id: 2 },
    { none: { $absent: true } },
    { gone: null },
    { gone: { $any: true } },
    { list: [1] },
    { list: ["a", 1] },
    { list: {} },
    { list: { $length: 3 }, text: "hello" },
    { text: { $regex: "^b" } },
    { half: { $type: "integer" } },
    { none: { $type: "object" } },
    [],
    null,
  ];
  for (const pattern of matching) assert.equal(mismatch(value, pattern), undefined, JSON.stringify(pattern));
  for (const pattern of failing) assert.notEqual(mismatch(value, pattern), undefined, JSON.stringify(pattern));
  assert.notEqual(mismatch(undefined, { id: 1 }), undefined);
});

/** A program that writes `output` when it reads something. */
function writer(t, output, framing) {
  const source = `process.stdin.once("data", () => process.stdout.write(${JSON.stringify(output)}))`;
  const wire = new Wire(process.execPath, ["--eval", source], framing);
  atEnd(t, () => wire.child.kill("SIGKILL"));
  wire.send("{}");
  wire.child.stdin.end();
  return wire;
}

test("the wire reads both framings and refuses a header that is not exactly the one", async (t) => {
  const lines = writer(t, '{"a":"é"}\n{"b":2}\nrest', "lines");
  assert.deepEqual([await lines.next(), await lines.next(), await lines.next()], [{ a: "é" }, { b: 2 }, undefined]);
  assert.equal(lines.rest, "rest");
  const framed = writer(t, 'Content-Length: 10\r\n\r\n{"a":"é"}Content-Length: 2\r\n\r\n{}', "content-length");
  assert.deepEqual([await framed.next(), await framed.next(), await framed.next()], [{ a: "é" }, {}, undefined]);
  for (const head of ["content-length: 2\r\n\r\n", "Content-Length: 2\r\nX: 1\r\n\r\n", "Content-Length:2\r\n\r\n"]) {
    await assert.rejects(writer(t, `${head}{}`, "content-length").next(), /exactly one header/);
  }
});
