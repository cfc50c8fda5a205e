import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { MessageTooLargeError } from "halcyon-client";
import { Gate, heldRoute, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { fakeClient, fakeServer, packageFolder, scratchFolder, startClient } from "./support/servers.mjs";

test("answers that come byte by byte are put together, and overtaking ones find their calls", async (t) => {
  const source = `
    const waiting = [];
    onMessage((message) => {
      waiting.unshift(message);
      if (waiting.length < 3) return;
      const text = waiting.map(({ id, params }) => JSON.stringify({ jsonrpc: "2.0", id, result: params }) + "\\r\\n").join("\\n");
      const bytes = Buffer.from(text);
      const next = (index) => index < bytes.length && process.stdout.write(bytes.subarray(index, index + 1), () => setImmediate(next, index + 1));
      next(0);
    });`;
  const images = await fakeClient(t, source);
  const values = [{ text: "é🖼漢" }, { text: "two" }, { text: "three" }];
  assert.deepEqual(await Promise.all(values.map((value) => images.call("echo", value))), values);
});

test("an answer of twenty megabytes is read", async (t) => {
  const images = await fakeClient(t, `onMessage(({ id }) => answer(id, "é".repeat(10_000_000)));`);
  assert.equal((await images.call("large")).length, 10_000_000);
});

test("a server that answers before it reads on cannot lock up a client that writes much", async (t) => {
  // It reads one message, writes its answer whole, and only then reads the next, as a server of one thread does.
  const source = `
    import { readSync, writeSync } from "node:fs";
    const write = (text) => {
      for (let bytes = Buffer.from(text); bytes.length > 0; ) {
        try { bytes = bytes.subarray(writeSync(1, bytes)); } catch (error) { if (error.code !== "EAGAIN") throw error; }
      }
    };
    let text = "";
    const chunk = Buffer.alloc(65536);
    for (;;) {
      const count = readSync(0, chunk);
      if (count === 0) break;
      text += chunk.toString("latin1", 0, count);
      const lines = text.split("\\n");
      text = lines.pop();
      for (const line of lines) write(line.replace('"method":"echo","params"', '"result"') + "\\n");
    }`;
  const images = await fakeClient(t, source);
  const large = "x".repeat(500_000);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => images.call("echo", { index, large })));
  assert.deepEqual(answers.map((answer) => answer.index), [...Array(40).keys()]);
  assert.ok(answers.every((answer) => answer.large === large));
});

test("a message the server would not read is refused here", async (t) => {
  const images = await fakeClient(t, `onMessage(({ id }) => answer(id, null));`);
  for (const mebibytes of [50, 512]) {
    const data = new Uint8Array(mebibytes * 1024 * 1024);
    await assert.rejects(images.store({ key: "huge", data }), (error) => {
      assert.ok(error instanceof MessageTooLargeError);
      assert.match(error.message, /path/);
      return true;
    });
  }
  await assert.rejects(images.call("x", { big: 1n }), TypeError);
  assert.equal(await images.ping(), null);
});

test("a notification that the server could not read is refused, and costs no open call", async (t) => {
  const held = heldRoute(png(6, 4));
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const call = images.retrieve(http.url("/cat.png"));
  await held.asked;
  assert.throws(() => images.notify("x/y", { text: "\ud800" }), TypeError);
  assert.throws(() => images.notify("x/y", { number: 2 ** 63 }), TypeError);
  await images.ping();
  held.open();
  assert.equal((await call).width, 6);
});

test("a number that is not finite is refused rather than sent as null", async (t) => {
  const images = await startClient(t);
  await assert.rejects(images.configure({ memory: { countLimit: Infinity } }), TypeError);
  await assert.rejects(images.retrieve({ url: "data:,", options: { maxBytes: NaN } }), TypeError);
});

test("what the server writes on standard error reaches the function given for it", async (t) => {
  const heard = new Gate();
  const stderr = (text) => heard.open(text);
  const images = await fakeClient(t, `console.error("a warning"); onMessage(() => {});`, { stderr });
  const open = assert.rejects(images.ping(), { exitCode: 0 });
  assert.equal(await heard.opened, "a warning\n");
  await images.close();
  await open;
});

test("a request from the server is refused, not left open", async (t) => {
  const source = `
    let first;
    onMessage((message) => {
      if (message.method) { first = message.id; send({ id: "s1", method: "downloader/redirect" }); }
      else answer(first, message);
    });`;
  const images = await fakeClient(t, source);
  const reply = await images.call("x");
  assert.deepEqual([reply.id, reply.error.code], ["s1", -32601]);
});

test("a listener that throws is an uncaught exception and costs no answer", async (t) => {
  const folder = await scratchFolder(t);
  const file = path.join(folder, "program.mjs");
  const source = `onMessage(({ id }) => { send({ method: "log", params: {} }); answer(id, "the answer"); });`;
  await writeFile(
    file,
    `import { Client } from "halcyon-client";
    process.on("uncaughtException", (error) => console.log(error.message));
    const onNotification = () => { throw new Error("mine"); };
    const images = new Client({ binary: ${JSON.stringify(await fakeServer(t, source))}, onNotification });
    console.log(await images.call("x"));
    await images.close({ timeoutMs: 100 });
    `,
  );
  await mkdir(path.join(folder, "node_modules"));
  await symlink(packageFolder, path.join(folder, "node_modules", "halcyon-client"));
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  assert.deepEqual(stdout.trim().split("\n").sort(), ["mine", "the answer"]);
});
