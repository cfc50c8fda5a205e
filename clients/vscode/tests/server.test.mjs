import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { heldRoute, startHTTP } from "../../node/tests/support/http.mjs";
import { png } from "../../node/tests/support/images.mjs";
import { atEnd, eventually, realBinary, scratchFolder } from "../../node/tests/support/servers.mjs";
import { CancellationTokenSource, requireExtension } from "./support/vscode.mjs";

const { Server } = requireExtension("./lib/server.js");

async function startServer(t, options = {}) {
  const cache = await scratchFolder(t);
  const log = [];
  const server = new Server(() => ({ binary: realBinary(), args: ["--cache-dir", cache], ...options }), (text) => log.push(text));
  atEnd(t, () => server.stop());
  return Object.assign(server, { logged: () => log.join("") });
}

async function fakeServer(t, script) {
  const folder = await scratchFolder(t);
  const [file, starts] = [path.join(folder, "fake-halcyon"), path.join(folder, "starts")];
  await writeFile(file, `#!/bin/sh\necho >>${starts}\n${script}\n`);
  await chmod(file, 0o755);
  const count = async () => (await readFile(starts, "latin1").catch(() => "")).length;
  return Object.assign(await startServer(t, { binary: file }), { starts: count });
}

test("nothing is started before the first call, and one server serves many", async (t) => {
  const server = await startServer(t);
  assert.equal(server.pid, undefined);
  const first = server.call("ping");
  const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => server.call("isCached", { key: `key ${index}` })));
  assert.ok(answers.every((answer) => answer.cached === false));
  await first;
  const { pid } = server;
  await server.call("ping");
  assert.equal(server.pid, pid);
});

test("an error has the kind by which to decide", async (t) => {
  const http = await startHTTP(t, {});
  const server = await startServer(t);
  await assert.rejects(server.call("retrieve", { url: http.url("/gone.png") }), { kind: "invalidStatusCode", code: 10002, retryable: false });
});

test("a cancelled call rejects and stops the download, and another caller still gets the image", async (t) => {
  const image = png(3, 2);
  const [alone, shared] = [heldRoute(image), heldRoute(image)];
  const http = await startHTTP(t, { "/alone.png": alone, "/shared.png": shared });
  const server = await startServer(t);
  const [one, other] = [new CancellationTokenSource(), new CancellationTokenSource()];
  const first = server.call("retrieve", { url: http.url("/alone.png") }, { token: one.token });
  const second = server.call("retrieve", { url: http.url("/shared.png") }, { token: other.token });
  const third = server.call("retrieve", { url: http.url("/shared.png") });
  await Promise.all([alone.asked, shared.asked]);
  one.cancel();
  other.cancel();
  await assert.rejects(first, { kind: "requestCancelled" });
  await assert.rejects(second, { kind: "requestCancelled" });
  await alone.left;
  shared.open();
  assert.equal((await third).width, 3);
  assert.equal(one.listenerCount + other.listenerCount, 0);
  await assert.rejects(server.call("ping", undefined, { token: one.token }), { kind: "requestCancelled" });
});

test("progress is told, the last before the result", async (t) => {
  const image = png(40, 40, undefined, 300_000);
  const http = await startHTTP(t, { "/cat.png": image });
  const server = await startServer(t);
  const values = [];
  await server.call("retrieve", { url: http.url("/cat.png") }, { onProgress: (value) => values.push(value) });
  assert.equal(values[0].kind, "begin");
  assert.equal(values.at(-1).receivedBytes, image.length);
});

test("a server that was killed fails what was open, and the next call starts another", async (t) => {
  const held = heldRoute(png(1, 1));
  const http = await startHTTP(t, { "/cat.png": held });
  const server = await startServer(t);
  const call = server.call("retrieve", { url: http.url("/cat.png") });
  await held.asked;
  const { pid } = server;
  process.kill(pid, "SIGKILL");
  await assert.rejects(call, { kind: "serverGone", retryable: true, message: /was ended by SIGKILL/ });
  assert.equal(await server.call("ping"), null);
  assert.notEqual(server.pid, pid);
});

test("who listens goes on hearing after the server was killed, and not after it left", async (t) => {
  const http = await startHTTP(t, { "/cat.png": png(1, 1) });
  const server = await startServer(t);
  const seen = [];
  const listener = server.on("download/didFinish", (event) => seen.push(event.statusCode));
  await server.call("ping");
  const { pid } = server;
  process.kill(pid, "SIGKILL");
  await eventually(() => server.pid !== undefined && server.pid !== pid, "another server was started");
  await server.call("retrieve", { url: http.url("/cat.png") });
  await eventually(() => seen.length === 1, "the event came");
  listener.dispose();
  await server.call("retrieve", { url: http.url("/cat.png"), options: { forceRefresh: true } });
  assert.deepEqual(await server.call("unsubscribe", { events: ["log"] }), { events: [] });
  assert.deepEqual(seen, [200]);
});

test("an event that does not exist is refused at once, and does not spoil the others", async (t) => {
  const server = await startServer(t);
  assert.throws(() => server.on("cache/didclean", () => {}), /no event "cache\/didclean".*cache\/didClean/);
  assert.deepEqual((await server.call("subscribe", { events: ["log"] })).events, ["log"]);
});

test("a server that dies again and again is not started for ever", async (t) => {
  const body = '{"jsonrpc":"2.0","id":1,"result":{"events":["log"]}}';
  const server = await fakeServer(t, `read line; printf '%s\\n' '${body}'; exit 3`);
  server.on("log", () => {});
  await eventually(() => /4th in a row/.test(server.logged()), "it was given up");
  assert.equal(await server.starts(), 4);
  await assert.rejects(server.call("ping"), { kind: "serverGone" });
  assert.equal(await server.starts(), 4);
});

test("a program that is no server is told apart by its words and its exit code", async (t) => {
  const talker = await fakeServer(t, "echo Hello, world; exec cat >/dev/null");
  await assert.rejects(talker.call("ping"), { kind: "serverGone", message: /not JSON-RPC: .*Hello, world/ });
  const quitter = await fakeServer(t, "read line; echo bad flag >&2; exit 64");
  await assert.rejects(quitter.call("ping"), { kind: "serverGone", message: /ended with exit code 64\. It said:\n    bad flag/ });
  assert.equal(quitter.logged(), "bad flag\n");
});

test("a listener that fails is told in the log, and disturbs no other", async (t) => {
  const http = await startHTTP(t, { "/cat.png": png(1, 1) });
  const server = await startServer(t);
  const seen = [];
  server.on("download/didFinish", () => {
    throw new Error("mine");
  });
  server.on("download/didFinish", () => {
    throw Object.create(null);
  });
  server.on("download/didFinish", ({ statusCode }) => seen.push(statusCode));
  await server.call("ping");
  for (const turn of [1, 2]) {
    await server.call("retrieve", { url: http.url("/cat.png"), options: { forceRefresh: true } });
    await eventually(() => seen.length === turn, "the event came");
  }
  assert.match(server.logged(), /A listener failed: Error: mine/);
});

test("an executable that is not there is named with where it was looked for", async (t) => {
  const server = await startServer(t, { binary: "/nowhere/halcyon" });
  await assert.rejects(server.call("ping"), { kind: "binaryNotFound", message: /"\/nowhere\/halcyon", named by the setting halcyon\.binary/ });
  const other = await startServer(t, { binary: "", env: { HALCYON_BIN: "", PATH: "/nowhere" } });
  await assert.rejects(other.call("ping"), { kind: "binaryNotFound", message: /no folder of PATH/ });
});

test("a server that is stopped answers what it was asked", async (t) => {
  const held = heldRoute(png(5, 1));
  const http = await startHTTP(t, { "/cat.png": held });
  const server = await startServer(t);
  const call = server.call("retrieve", { url: http.url("/cat.png") });
  await held.asked;
  const stopped = server.stop();
  held.open();
  assert.equal((await call).width, 5);
  await stopped;
  assert.equal(server.pid, undefined);
});

test("a call that waits for another server is answered by the one of a restart, and fails when it is stopped", async (t) => {
  const server = await startServer(t);
  for (const turn of [1, 2]) {
    await server.call("ping");
    process.kill(server.pid, "SIGKILL");
    await assert.rejects(server.call("ping"), { kind: "serverGone" });
    const call = server.call("ping");
    if (turn === 1) {
      const restarted = server.restart();
      assert.equal(await call, null);
      await restarted;
    } else {
      const stopped = server.stop();
      await assert.rejects(call, { kind: "clientClosed" });
      await stopped;
      assert.equal(server.pid, undefined);
    }
  }
});

test("a server that dies before its first word is not started again for those who listen", async (t) => {
  const server = await fakeServer(t, "exit 3");
  server.on("log", () => {});
  await eventually(() => /exit code 3/.test(server.logged()), "it died");
  assert.equal(await server.starts(), 1);
});

test("who listens right after another has ceased to is told", async (t) => {
  const http = await startHTTP(t, { "/a.png": png(1, 1) });
  const server = await startServer(t);
  const first = server.on("download/didFinish", () => assert.fail("it was told of nothing yet"));
  await server.call("ping");
  first.dispose();
  const seen = new Promise((resolve) => server.on("download/didFinish", resolve));
  await server.call("ping");
  await server.call("retrieve", { url: http.url("/a.png") });
  assert.equal((await seen).statusCode, 200);
});
