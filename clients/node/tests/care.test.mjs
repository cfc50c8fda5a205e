import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { ErrorCode } from "halcyon-client";
import { png } from "./support/images.mjs";
import { scratchFolder, startClient } from "./support/servers.mjs";

async function store(images, keys, filler = 0) {
  for (const [index, key] of keys.entries()) {
    const data = png(8, 8, [index, 2, 3], filler);
    await images.store({ key, data, metadata: { n: String(index) }, options: { lease: 0 } });
  }
}

test("settings are changed and told, and a bad one is named", async (t) => {
  const images = await startClient(t);
  const before = await images.configure();
  const after = await images.configure({ memory: { countLimit: 5 }, disk: { purgeRatio: 0.25 } });
  assert.deepEqual(after.disk, { ...before.disk, purgeRatio: 0.25 });
  assert.equal(after.memory.countLimit, 5);
  assert.equal((await images.configure({ cache: "thumbs", memory: false })).memory, false);
  assert.deepEqual((await images.caches()).map((cache) => cache.name), ["default", "thumbs"]);
  await assert.rejects(images.configure({ disk: { purgeRatio: 2 } }), (error) => {
    assert.equal(error.code, ErrorCode.invalidParams);
    return error.data.param === "disk.purgeRatio";
  });
});

test("a read-only folder answers after the cache", async (t) => {
  const cacheDir = await scratchFolder(t);
  const first = await startClient(t, { cacheDir });
  await store(first, ["k"]);
  await first.close();
  const images = await startClient(t);
  const folder = path.join(cacheDir, "default");
  assert.deepEqual((await images.addReadOnlyCachePath(folder)).disk.readOnlyPaths, [folder]);
  assert.equal((await images.isCached("k")).cacheType, "disk");
});

test("entries are listed page by page, inspected, verified and cleaned", async (t) => {
  const images = await startClient(t);
  await store(images, ["a1", "a2", "a3", "b1"]);
  const keys = [];
  for await (const entry of images.listEntries({ prefix: "a", pageSize: 2 })) keys.push(entry.key);
  assert.deepEqual(keys.sort(), ["a1", "a2", "a3"]);
  const entry = await images.inspect("a2");
  assert.deepEqual([entry.format, entry.width, entry.metadata], ["png", 8, { n: "1" }]);
  await assert.rejects(images.inspect("nothing"), { code: ErrorCode.notCached });
  assert.deepEqual([(await images.verify({ repair: false })).checked, (await images.cleanExpired()).count], [4, 0]);
});

test("requests are explained, downloads paused, and failures listed and forgotten", async (t) => {
  const images = await startClient(t);
  await store(images, ["k"]);
  const told = await images.explain({ url: "https://example.com/a.png", key: "k" });
  assert.deepEqual([told.verdict, told.network], ["answer", false]);
  assert.equal((await images.explain("https://example.com/a.png")).verdict, "load");
  assert.equal((await images.pause("prefetch")).paused, "prefetch");
  assert.deepEqual(await images.resume(), { paused: "none", running: 0, waiting: 0 });
  const url = "http://169.254.169.254/";
  await assert.rejects(images.retrieve({ url, options: { negativeCache: 60 } }), { code: ErrorCode.forbiddenAddress });
  assert.deepEqual((await images.listFailures()).map((failure) => [failure.url, failure.error.code]), [[url, 20004]]);
  assert.equal(await images.forgetFailures(url), 1);
  assert.deepEqual([await images.forgetFailures(), await images.listFailures()], [0, []]);
});
