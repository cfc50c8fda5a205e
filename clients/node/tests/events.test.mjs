import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "halcyon-client";
import { Gate, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { eventually, fakeClient, startClient } from "./support/servers.mjs";

async function store(images, keys, filler = 0) {
  for (const [index, key] of keys.entries()) {
    const data = png(8, 8, [index, 2, 3], filler);
    await images.store({ key, data, metadata: { n: String(index) }, options: { lease: 0 } });
  }
}

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

// What these wait for does not come when they fail: this is no measure of speed.
const timeout = 30_000;

test("a subscription that fails takes no listener from a later one", { timeout }, async (t) => {
  const http = await startHTTP(t, { "/a.png": png(1, 1) });
  const images = await startClient(t);
  const heard = new Gate();
  const name = "download/didFinish";
  const failing = images.subscribe([name, "nothing/happens"], () => assert.fail("its listener was told"));
  const [failed, done] = await Promise.allSettled([failing, images.subscribe(name, heard.open)]);
  assert.deepEqual([failed.reason.code, done.value], [ErrorCode.invalidParams, [name]]);
  await images.retrieve(http.url("/a.png"));
  await heard.opened;
});

test("an aborted loop ends although the server answers nothing", { timeout }, async (t) => {
  for (const answered of [["ping"], ["ping", "subscribe"]]) {
    const source = `onMessage(({ id, method }) => ${JSON.stringify(answered)}.includes(method) && answer(id, { events: ["log"] }));`;
    const images = await fakeClient(t, source);
    for (const reason of [new Error("enough"), undefined]) {
      const controller = new AbortController();
      const step = images.events("log", { signal: controller.signal }).next();
      await images.ping();
      controller.abort(reason);
      await assert.rejects(step, (error) => error === controller.signal.reason);
    }
  }
});

test("a loop is left although the server does not answer that", { timeout }, async (t) => {
  const source = `onMessage(({ id, method }) => {
    if (method !== "subscribe") return;
    answer(id, { events: ["log"] });
    send({ method: "log", params: {} });
  });`;
  const images = await fakeClient(t, source);
  for await (const { event } of images.events("log")) {
    assert.equal(event, "log");
    break;
  }
});

test("unsubscribing ends the loops that wait for nothing else, and not those that begin after it", { timeout }, async (t) => {
  const http = await startHTTP(t, { "/a.png": png(1, 1) });
  const images = await startClient(t);
  const name = "download/didFinish";
  const [one, both] = [images.events("activity/didChange").next(), images.events(["activity/didChange", name]).next()];
  await images.ping();
  const unsubscribed = images.unsubscribe("activity/didChange");
  const later = images.events("activity/didChange").next();
  assert.deepEqual(await unsubscribed, [name]);
  assert.deepEqual(await one, { value: undefined, done: true });
  await images.retrieve(http.url("/a.png"));
  assert.equal((await both).value.event, name);
  await images.close();
  assert.deepEqual(await later, { value: undefined, done: true });
});
