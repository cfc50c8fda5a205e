import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { Client, ClientClosedError, ServerGoneError } from "halcyon-client";
import { Lives } from "../lib/lives.mjs";
import { Restored } from "../lib/restored.mjs";
import { LastLines } from "../lib/stderr.mjs";
import { startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { atEnd, fakeServer, isRunning, scratchFolder, startClient } from "./support/servers.mjs";

const data = png(6, 4);

/** Kills the server of a client, and returns when the client knows of it. */
async function kill(images) {
  const { pid } = images;
  process.kill(pid, "SIGKILL");
  while (images.pid === pid) await images.ping().catch(() => {});
}

/** A client of a server that lives as long as `source` says, and a function that tells how often one was started. */
async function countedClient(t, source) {
  const starts = path.join(await scratchFolder(t), "starts");
  const counted = `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(starts)}, "x");`;
  const images = new Client({ binary: await fakeServer(t, counted + source), stderr: "ignore" });
  atEnd(t, () => images.close({ timeoutMs: 100 }));
  return { images, starts: async () => (await readFile(starts, "latin1")).length };
}

test("a new server has the settings, folders, pause, subscriptions and delegates of the last", async (t) => {
  const http = await startHTTP(t, { "/cat.png": data });
  const asked = [];
  const images = await startClient(t, { delegates: { "downloader/modifyRequest": ({ url }) => void asked.push(url) } });
  await images.store({ key: "k", data });
  await images.configure({ memory: { countLimit: 5 }, disk: { purgeRatio: 0.25 } });
  await images.configure({ cache: "thumbs", memory: false });
  await images.configure({ memory: { countLimit: 7 } });
  await images.addReadOnlyCachePath(await scratchFolder(t));
  await images.subscribe(["log", "cache/didClean"], () => {});
  await images.unsubscribe("log");
  const before = [await images.configure(), await images.configure({ cache: "thumbs" })];
  assert.equal(before[0].memory.countLimit, 7);
  const first = images.pid;
  await kill(images);
  assert.deepEqual([await images.configure(), await images.configure({ cache: "thumbs" })], before);
  assert.notEqual(images.pid, first);
  assert.deepEqual(await images.call("subscribe", { events: [] }), { events: ["cache/didClean"] });
  assert.equal((await images.isCached("k")).cached, true);
  await images.retrieve(http.url("/cat.png"));
  assert.deepEqual(asked, [http.url("/cat.png")]);
  await images.pause();
  await kill(images);
  assert.equal((await images.pause()).paused, "all");
});

test("a new server is told settings in the order in which they were set", async (t) => {
  const images = await startClient(t);
  await images.configure({ memory: { countLimit: 5 } });
  await images.configure({ memory: false });
  await images.configure({ memory: true });
  await images.addReadOnlyCachePath(await scratchFolder(t));
  await images.configure({ disk: { readOnlyPaths: [] } });
  const before = await images.configure();
  await kill(images);
  assert.deepEqual(await images.configure(), before);
  assert.deepEqual([before.memory.countLimit, before.disk.readOnlyPaths], [5, []]);
});

test("a new server has the settings that were sent, whatever became of their object, and none that was undefined", async (t) => {
  const images = await startClient(t);
  const settings = { memory: { countLimit: 5 } };
  const sent = images.configure(settings);
  settings.memory.countLimit = 77;
  await sent;
  settings.memory.countLimit = 78;
  await images.configure({ memory: { countLimit: undefined, totalBytesLimit: 1_000_000 } });
  await images.configure({ cache: "thumbs", memory: false });
  await images.configure({ cache: "thumbs", memory: undefined, disk: { purgeRatio: 0.25 } });
  const told = async () => [await images.configure(), await images.configure({ cache: "thumbs" })];
  const before = await told();
  assert.deepEqual([before[0].memory.countLimit, before[1].memory], [5, false]);
  await kill(images);
  assert.deepEqual(await told(), before);
});

test("a new server has the read-only folders in their order, also where one was added twice", async (t) => {
  const images = await startClient(t);
  const [a, b, c] = [await scratchFolder(t), await scratchFolder(t), await scratchFolder(t)];
  const paths = async () => (await images.configure()).disk.readOnlyPaths;
  for (const folder of [a, b, a]) await images.addReadOnlyCachePath(folder);
  await kill(images);
  assert.deepEqual(await paths(), [a, b]);
  await images.configure({ disk: { readOnlyPaths: [c] } });
  for (const folder of [b, a, b]) await images.addReadOnlyCachePath(folder);
  await kill(images);
  assert.deepEqual(await paths(), [c, b, a]);
});

test("calls made at once after a death are sent in their order, to one new server", async (t) => {
  const { images, starts } = await countedClient(
    t,
    `const seen = []; onMessage(({ id, method, params }) => {
      if (method === "die") process.exit(3);
      if (method === "note") seen.push(params.n); else answer(id, seen);
    });`,
  );
  await assert.rejects(images.call("die"), { name: "ServerGoneError", exitCode: 3, retryable: true });
  images.notify("note", { n: 1 });
  images.notify("note", { n: 2 });
  const both = [images.call("seen"), images.call("seen")];
  assert.deepEqual(await Promise.all(both), [[1, 2], [1, 2]]);
  assert.equal(await starts(), 2);
});

test("an error says the last lines that the server wrote", async (t) => {
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\\n");
  const { images } = await countedClient(t, `onMessage(() => process.stderr.write("${lines}", () => process.exit(4)));`);
  await assert.rejects(images.ping(), (error) => {
    assert.deepEqual(error.stderr, Array.from({ length: 10 }, (_, index) => `line ${index + 2}`));
    assert.match(error.message, /ended with exit code 4\. It said:\n    line 2\n.*\n    line 11$/s);
    return true;
  });
});

test("a server that always dies at once is not started in a loop", async (t) => {
  const { images, starts } = await countedClient(t, 'console.error("cannot go on: no room"); process.exit(3);');
  await assert.rejects(images.events("log").next(), ServerGoneError);
  assert.equal(await starts(), 1);
  const errors = [];
  for (let turn = 0; turn < 20; turn++) {
    const outcomes = await Promise.allSettled([images.ping(), images.ping()]);
    errors.push(...outcomes.map(({ reason }) => reason));
  }
  assert.ok(errors.every((error) => error instanceof ServerGoneError));
  assert.equal(await starts(), 4);
  const last = errors.at(-1);
  assert.ok(last.retryAfterMs > 0 && last.retryAfterMs <= 1000);
  assert.match(last.message, /exit code 3.*cannot go on: no room.*4th in a row.*may be started in/s);
  assert.equal(errors[0].retryAfterMs, undefined);
  await assert.rejects(images.events("log").next(), ServerGoneError);
});

test("a loop over events goes on with the next server, and ends when the client is closed", async (t) => {
  const images = await startClient(t);
  const seen = [];
  const loop = (async () => {
    for await (const { params } of images.events("cache/didClean")) {
      seen.push(params.reason);
      await images.close();
    }
  })();
  await images.ping();
  await kill(images);
  for (const key of ["a", "b", "c"]) {
    await images.store({ key, data: png(8, 8, [1, 2, key.charCodeAt(0)], 10_000), options: { lease: 0 } });
  }
  await images.configure({ disk: { bytesLimit: 15_000 } }).catch(() => {});
  await loop;
  assert.deepEqual(seen, ["sizeLimit"]);
});

test("a client that is closed while its server is started again leaves none", async (t) => {
  const images = await startClient(t);
  const { pid } = images;
  process.kill(pid, "SIGKILL");
  await images.ping().catch(() => {});
  const outcomes = [images.ping(), images.ping()];
  await images.close();
  await Promise.allSettled(outcomes);
  assert.equal(isRunning(images.pid), false);
  await assert.rejects(images.ping(), ClientClosedError);
});

test("the pause before a start doubles with each that dies young, and ends with one that lasts", () => {
  let now = 0;
  const lives = new Lives(() => now);
  const waits = [...Array(12).fill(1000), 11_000, 1000].map((lived) => {
    lives.begin();
    now += lived;
    lives.end();
    const { waitMs } = lives;
    now += waitMs;
    assert.equal(lives.waitMs, 0);
    return waitMs / 1000;
  });
  assert.deepEqual(waits, [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 0, 0]);
});

test("what is told again is the last of each setting, and no more than there are settings", () => {
  const restored = new Restored();
  const note = (method, params, result) => restored.sent(method, params)(result);
  for (let turn = 0; turn < 100; turn++) {
    note("configure", { memory: { countLimit: turn } });
    note("configure", { cache: "thumbs", memory: false });
  }
  note("configure", { disk: { purgeRatio: 1, bytesLimit: 2 } });
  note("configure", { cache: "default", disk: { purgeRatio: 2 } });
  note("configure", { cache: "other" });
  note("addReadOnlyCachePath", { path: "/b" });
  note("addReadOnlyCachePath", { path: "/c", cache: "thumbs" });
  note("configure", { disk: { readOnlyPaths: [] } });
  for (let turn = 0; turn < 2; turn++) note("addReadOnlyCachePath", { path: "/a" });
  note("pause");
  note("resume");
  note("subscribe", { events: ["log", "x"] }, { events: ["log", "x"] });
  note("unsubscribe", { events: ["x"] }, { events: ["log"] });
  note("retrieve", { url: "u" }, {});
  assert.deepEqual(restored.calls, [
    { method: "configure", params: { memory: { countLimit: 99 } } },
    { method: "configure", params: { cache: "thumbs", memory: false } },
    { method: "configure", params: { disk: { purgeRatio: 1, bytesLimit: 2 } } },
    { method: "configure", params: { cache: "default", disk: { purgeRatio: 2 } } },
    { method: "addReadOnlyCachePath", params: { path: "/c", cache: "thumbs" } },
    { method: "configure", params: { disk: { readOnlyPaths: [] } } },
    { method: "addReadOnlyCachePath", params: { path: "/a" } },
    { method: "subscribe", params: { events: ["log"] } },
  ]);
});

test("last lines are cut, however they come", () => {
  const last = new LastLines();
  for (const piece of ["a\nb", "c\n", "x".repeat(600), "y".repeat(600), "\nend"]) last.push(piece);
  assert.deepEqual(last.lines, ["a", "bc", "x".repeat(500), "end"]);
  last.push(`${"\n".repeat(30)}1\n2`);
  assert.deepEqual(last.lines, [...Array(8).fill(""), "1", "2"]);
});
