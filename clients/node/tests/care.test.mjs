import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { ErrorCode } from "halcyon-client";
import { Gate, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { eventually, scratchFolder, startClient } from "./support/servers.mjs";

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

test("events can be gone through as they come, until the loop is left, the signal aborts or the client is closed", async (t) => {
  const images = await startClient(t);
  await images.configure({ disk: { bytesLimit: 15_000 } });
  let seen = 0;
  for await (const { event, params } of startThen(images.events("cache/didClean"), () => store(images, ["a", "b", "c"], 10_000))) {
    assert.deepEqual([event, params.cache, params.reason], ["cache/didClean", "default", "sizeLimit"]);
    seen += 1;
    break;
  }
  assert.equal(seen, 1);
  assert.deepEqual(await images.unsubscribe("cache/didClean"), []);

  const controller = new AbortController();
  const events = images.events(["cache/didClean", "log"], { signal: controller.signal });
  const step = events.next();
  await images.ping();
  controller.abort(new Error("enough"));
  await assert.rejects(step, { message: "enough" });
  await assert.rejects(images.events("cache/didClean", { signal: controller.signal }).next(), { message: "enough" });
  await assert.rejects(images.events("cache/didclaen").next(), { code: ErrorCode.invalidParams });

  const last = images.events("cache/didClean").next();
  await images.ping();
  await images.close();
  assert.deepEqual(await last, { value: undefined, done: true });
});

/** The same steps; `work` begins when the first has been asked for. */
async function* startThen(events, work) {
  let next = events.next();
  await work();
  try {
    for (let step = await next; !step.done; step = await next) {
      yield step.value;
      next = events.next();
    }
  } finally {
    await events.return();
  }
}

test("events come to the listener until it is unsubscribed", async (t) => {
  const heard = [];
  const everything = [];
  const images = await startClient(t, { onNotification: (method) => everything.push(method) });
  const listener = (event, params) => heard.push({ event, ...params });
  await assert.rejects(images.subscribe(["cache/didclaen"], listener), { code: ErrorCode.invalidParams });
  assert.deepEqual(await images.subscribe("cache/didClean", listener), ["cache/didClean"]);
  await store(images, ["a", "b", "c"], 10_000);
  await images.configure({ disk: { bytesLimit: 15_000 } });
  await eventually(() => heard.length > 0, "an event was heard");
  assert.deepEqual([heard[0].event, heard[0].cache, heard[0].reason], ["cache/didClean", "default", "sizeLimit"]);
  assert.ok(heard[0].keys.includes("a"));
  assert.equal(everything[0], "cache/didClean");
  assert.deepEqual(await images.unsubscribe("cache/didClean"), []);
});

test("several loops over one event each get it, and the end of one leaves it to the others", async (t) => {
  const http = await startHTTP(t, { "/a.png": png(1, 1), "/b.png": png(1, 1) });
  const images = await startClient(t);
  const name = "download/didFinish";
  const [first, second] = [images.events(name), images.events([name, "log"])];
  const both = [first.next(), second.next()];
  await images.retrieve(http.url("/a.png"));
  const [one, other] = await Promise.all(both);
  assert.equal(one.value.params.url, http.url("/a.png"));
  assert.deepEqual(one, other);
  await first.return();
  const more = second.next();
  await images.retrieve(http.url("/b.png"));
  assert.equal((await more).value.params.url, http.url("/b.png"));
  await second.return();
  assert.deepEqual(await images.unsubscribe("activity/didChange"), []);
});

test("an event that is subscribed to again while its end is on the way is heard", async (t) => {
  const http = await startHTTP(t, { "/a.png": png(1, 1) });
  const images = await startClient(t);
  const heard = new Gate();
  await images.subscribe("download/didFinish", () => assert.fail("an earlier listener was told"));
  const end = images.unsubscribe("download/didFinish");
  await Promise.all([end, images.subscribe("download/didFinish", () => heard.open())]);
  await images.retrieve(http.url("/a.png"));
  await heard.opened;
});
