import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { ErrorCode, HalcyonError } from "halcyon-client";
import { startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { scratchFolder, startClient } from "./support/servers.mjs";

const cat = png(64, 48);

test("an image is downloaded once, then comes from memory, and from disk after a restart", async (t) => {
  const http = await startHTTP(t, { "/cat.png": cat });
  const cacheDir = await scratchFolder(t);
  const url = http.url("/cat.png");

  const images = await startClient(t, { cacheDir });
  const first = await images.retrieve({ url });
  assert.equal(first.cacheType, "none");
  assert.deepEqual([first.format, first.width, first.height, first.frameCount], ["png", 64, 48, 1]);
  assert.equal(first.byteCount, cat.length);
  assert.deepEqual(await readFile(first.path), cat);
  assert.equal((await images.retrieve(url)).cacheType, "memory");
  assert.deepEqual(await images.isCached(url), { cached: true, cacheType: "memory" });
  const { path: file, exists } = await images.cachePath({ key: url });
  assert.deepEqual([file, exists], [first.path, true]);
  assert.deepEqual(await images.close(), { exitCode: 0, signal: null });

  const again = await startClient(t, { cacheDir });
  assert.equal((await again.retrieve(new URL(url))).cacheType, "disk");
  assert.equal((await again.remove(url)).removed, true);
  assert.equal((await again.isCached(url)).cached, false);
  assert.equal(http.count("/cat.png"), 1);
});

test("data comes as a Buffer with the very bytes", async (t) => {
  const http = await startHTTP(t, { "/cat.png": cat });
  const images = await startClient(t);
  const both = await images.retrieve({ url: http.url("/cat.png"), as: "both" });
  assert.ok(Buffer.isBuffer(both.data));
  assert.deepEqual(both.data, cat);
  assert.deepEqual(await readFile(both.path), cat);
  const raw = await images.call("retrieve", { url: http.url("/cat.png"), as: "data" });
  assert.equal(raw.data, cat.toString("base64"));
});

test("an image of many megabytes crosses the pipe in both directions", async (t) => {
  const large = png(8, 8, [1, 2, 3], 10_000_000);
  const images = await startClient(t);
  await images.store({ key: "large", data: large });
  const { data } = await images.retrieve({ url: "http://127.0.0.1/unused", key: "large", as: "data" });
  assert.equal(data.equals(large), true);
});

test("store takes a path, a file URL, a Buffer, and a view into a larger buffer", async (t) => {
  const folder = await scratchFolder(t);
  const file = path.join(folder, "a b.png");
  await writeFile(file, cat);
  const images = await startClient(t);
  const padded = Buffer.concat([Buffer.alloc(7), cat, Buffer.alloc(7)]);
  const view = new Uint8Array(padded.buffer, padded.byteOffset + 7, cat.length);
  const inputs = { byPath: { path: file }, byRelativePath: { path: path.relative(process.cwd(), file) } };
  Object.assign(inputs, { byURL: { path: pathToFileURL(file) }, byBuffer: { data: cat }, byView: { data: view } });
  for (const [key, input] of Object.entries(inputs)) {
    const stored = await images.store({ key, ...input });
    assert.equal(stored.key, key);
    assert.deepEqual(await readFile(stored.path), cat, key);
  }
  assert.equal((await images.calculateSize()).disk.count, 5);
  await assert.rejects(images.store({ key: "text", data: "iVBORw0KGgo=" }), TypeError);
});

test("calls made without waiting take effect in their order", async (t) => {
  const images = await startClient(t);
  const answers = await Promise.all([
    images.isCached("a"),
    images.store({ key: "a", data: cat }),
    images.isCached("a"),
    images.remove("a"),
    images.isCached("a"),
  ]);
  assert.deepEqual([answers[0].cached, answers[2].cached, answers[4].cached], [false, true, false]);
});

test("the sizes follow what is stored and cleared, cache by cache", async (t) => {
  const images = await startClient(t);
  await images.store({ key: "a", data: cat });
  await images.store({ key: "b", data: cat, cache: "other" });
  const size = await images.calculateSize({ cache: "other" });
  assert.deepEqual([size.disk.count, size.disk.byteCount, size.memory.count], [1, cat.length, 1]);
  assert.equal((await images.clearMemory()).count, 1);
  assert.deepEqual(await images.isCached("a"), { cached: true, cacheType: "disk" });
  const { count, bytes } = await images.clearDisk();
  assert.deepEqual([count, bytes], [1, cat.length]);
  await images.clear({ cache: "other" });
  assert.equal((await images.calculateSize({ cache: "other" })).disk.count, 0);
});

test("ping, stats and discover answer", async (t) => {
  const images = await startClient(t);
  assert.equal(await images.ping(), null);
  assert.equal(typeof (await images.stats()), "object");
  const document = await images.discover();
  assert.ok(document.methods.some((method) => method.name === "retrieve"));
});

test("an error carries the server's code, name, data and sentence", async (t) => {
  const http = await startHTTP(t, {});
  const images = await startClient(t);
  const url = http.url("/missing.png");
  await assert.rejects(images.retrieve({ url }), (error) => {
    assert.ok(error instanceof HalcyonError);
    assert.deepEqual(
      [error.code, error.kind, error.data.statusCode, error.method],
      [ErrorCode.invalidStatusCode, "invalidStatusCode", 404, "retrieve"],
    );
    assert.ok(error.message.includes(url));
    return true;
  });
});

test("a misspelt option is refused with the nearest name", async (t) => {
  const images = await startClient(t);
  const request = { url: "http://127.0.0.1/x.png", options: { forceRefrehs: true } };
  await assert.rejects(images.retrieve(request), { code: ErrorCode.invalidParams, message: /forceRefresh/ });
  await assert.rejects(images.call("no/such/method"), { code: ErrorCode.methodNotFound });
});

test("a notification takes effect without an answer", async (t) => {
  const images = await startClient(t);
  images.notify("store", { key: "quiet", data: cat.toString("base64") });
  assert.equal((await images.isCached("quiet")).cached, true);
});
