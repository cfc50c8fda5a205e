import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Client, ServerGoneError } from "halcyon-client";
import { Connection } from "../lib/connection.mjs";
import { heldRoute, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { fakeClient, fakeServer, isRunning, realBinary, startClient } from "./support/servers.mjs";

test("a killed server rejects every open call with its signal, and the next call is answered by another", async (t) => {
  const held = heldRoute(png(6, 4));
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const calls = [1, 2, 3].map(() => images.retrieve({ url: http.url("/cat.png") }));
  const settled = Promise.allSettled(calls);
  await held.asked;
  process.kill(images.pid, "SIGKILL");
  for (const { reason } of await settled) {
    assert.ok(reason instanceof ServerGoneError);
    assert.deepEqual([reason.exitCode, reason.signal, reason.method], [null, "SIGKILL", "retrieve"]);
  }
  held.open();
  assert.equal((await images.retrieve({ url: http.url("/cat.png") })).width, 6);
  assert.deepEqual(await images.close(), { exitCode: 0, signal: null });
});

test("a flag the server does not know fails the start with its exit code", async () => {
  const start = Client.start({ binary: realBinary(), args: ["--no-such-flag"], stderr: "ignore" });
  await assert.rejects(start, (error) => {
    assert.ok(error instanceof ServerGoneError);
    assert.equal(error.method, "ping");
    assert.ok(error.exitCode > 0);
    return true;
  });
});

test("a server that dies between two answers still has its first one heard", async (t) => {
  const source = `onMessage(({ id, method }) => {
    if (method === "die") process.stdout.write('{"jsonrpc":"2.0","id":1,"result":"kept"}\\n{"jsonrpc":', () => process.exit(3));
  });`;
  const images = await fakeClient(t, source);
  const [first, second] = await Promise.allSettled([images.call("first"), images.call("die")]);
  assert.equal(first.value, "kept");
  assert.deepEqual([second.reason.code, second.reason.exitCode], ["HALCYON_SERVER_GONE", 3]);
});

test("a program that is not halcyon is found out by what it writes, and ended", async (t) => {
  const source = `console.log("Welcome to another program!"); setInterval(() => {}, 1000); process.on("SIGTERM", () => {});`;
  const images = await fakeClient(t, source);
  await assert.rejects(images.ping(), { name: "ServerGoneError", message: /Welcome to another program/ });
  assert.deepEqual(await images.close(), { exitCode: null, signal: "SIGKILL" });
  assert.equal(isRunning(images.pid), false);
});

test("a line that does not end fails the calls, and its program is ended", async () => {
  const output = new EventEmitter();
  const told = [];
  const connection = new Connection(new PassThrough(), output, { onBusy() {}, onViolation: (error) => told.push(error("m")) });
  for (let turn = 0; turn < 9; turn++) output.emit("data", Buffer.alloc(2 ** 26, "x"));
  assert.equal(told.length, 1);
  assert.ok(told[0] instanceof ServerGoneError);
  assert.match(told[0].message, /line of more than \d+ bytes: "x+…"/);
  connection.end();
});

test("a server that ignores the end of input and SIGTERM is killed", async (t) => {
  const source = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); onMessage(({ id }) => answer(id, null));`;
  const binary = await fakeServer(t, source);
  const images = await Client.start({ binary });
  assert.deepEqual(await images.close({ timeoutMs: 10 }), { exitCode: null, signal: "SIGKILL" });
  assert.equal(isRunning(images.pid), false);
});

test("a server that closes its output but lives on does not hold its callers", async (t) => {
  const source = `import { closeSync } from "node:fs";
    setInterval(() => {}, 1000);
    onMessage(() => closeSync(1));`;
  const images = await fakeClient(t, source);
  await assert.rejects(images.ping(), { name: "ServerGoneError", signal: "SIGTERM" });
});

test("an error without an id fails the open calls rather than leave one waiting for ever", async (t) => {
  const source = `onMessage(() => send({ id: null, error: { code: -32700, message: "Not JSON.", data: { name: "parseError" } } }));`;
  const images = await fakeClient(t, source);
  await assert.rejects(images.call("x"), { name: "HalcyonError", code: -32700, kind: "parseError" });
});
