import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "halcyon-client";
import { heldRoute, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { eventually, fakeClient, startClient } from "./support/servers.mjs";

const cat = png(6, 4);
const dog = png(3, 9);

test("a thousand retrieves of one URL reach the HTTP server once (E2-1)", async (t) => {
  const held = heldRoute(cat);
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const calls = Array.from({ length: 1000 }, () => images.retrieve({ url: http.url("/cat.png") }));
  await held.asked;
  await images.ping(); // The server has read all that was written before it.
  held.open();
  const results = await Promise.all(calls);
  assert.equal(new Set(results.map((result) => result.path)).size, 1);
  assert.ok(results.every((result) => result.byteCount === cat.length));
  assert.equal(http.count("/cat.png"), 1);
});

test("retrieveMany gives results in the order of the requests, whatever the order of the answers", async (t) => {
  const held = heldRoute(dog);
  const http = await startHTTP(t, { "/slow.png": held, "/fast.png": cat });
  const images = await startClient(t);
  const many = images.retrieveMany([{ url: http.url("/slow.png"), as: "data" }, http.url("/fast.png")]);
  await eventually(async () => (await images.isCached(http.url("/fast.png"))).cached, "the fast image is cached");
  held.open();
  const [slow, fast] = await many;
  assert.deepEqual([slow.width, slow.height, fast.width, fast.height], [3, 9, 6, 4]);
  assert.deepEqual(slow.data, dog);
});

test("a failure among many rejects, or is one outcome when all are asked for", async (t) => {
  const http = await startHTTP(t, { "/cat.png": cat });
  const images = await startClient(t);
  const urls = [http.url("/cat.png"), http.url("/missing.png"), "nonsense"];
  await assert.rejects(images.retrieveMany(urls), (error) => typeof error.code === "number");
  const outcomes = await images.retrieveMany(urls, { settled: true });
  assert.deepEqual(
    outcomes.map((outcome) => outcome.value?.width ?? outcome.reason.code),
    [6, ErrorCode.invalidStatusCode, ErrorCode.invalidURL],
  );
});

test("when no server can be had, each of many is a failed outcome", async (t) => {
  const images = await fakeClient(t, `process.exit(3);`, { stderr: "ignore" });
  const kinds = async () => (await images.isCachedMany(["a", "b"], { settled: true })).map(({ reason }) => reason.kind);
  for (let death = 0; death < 6; death++) assert.deepEqual(await kinds(), ["serverGone", "serverGone"]);
  await images.close();
  assert.deepEqual(await kinds(), ["clientClosed", "clientClosed"]);
  await assert.rejects(images.isCachedMany(["a"]), { kind: "clientClosed" });
});

test("a text is no list of requests, of which each character is one", async (t) => {
  const images = await fakeClient(t, `onMessage(({ id }) => answer(id, {}));`);
  await assert.rejects(images.retrieveMany("https://example.com/cat.png"), { name: "TypeError", message: /list/ });
  await assert.rejects(images.isCachedMany("key", { settled: true }), TypeError);
  assert.deepEqual(await images.isCachedMany(["k"]), [{}]);
});

test("isCachedMany and cachePathMany answer for each key", async (t) => {
  const images = await startClient(t);
  await images.store({ key: "a", data: cat });
  const states = await images.isCachedMany(["a", { key: "b" }]);
  assert.deepEqual(states.map((state) => state.cached), [true, false]);
  const paths = await images.cachePathMany(new Set(["a", "b"]));
  assert.deepEqual(paths.map((answer) => answer.exists), [true, false]);
  assert.deepEqual(await images.isCachedMany([]), []);
});

test("one signal gives up all that are open of many, and no listener stays", async (t) => {
  const source = `onMessage(({ id, method, params }) => {
    if (method === "$/cancelRequest") send({ id: params.id, error: { code: -32800, message: "Cancelled." } });
    else if (params.key === "answered") answer(id, { cached: false });
  });`;
  const images = await fakeClient(t, source);
  const controller = new AbortController();
  let listeners = 0;
  t.mock.method(controller.signal, "addEventListener", function (...args) {
    listeners += 1;
    return EventTarget.prototype.addEventListener.apply(this, args);
  });
  t.mock.method(controller.signal, "removeEventListener", function (...args) {
    listeners -= 1;
    return EventTarget.prototype.removeEventListener.apply(this, args);
  });
  const { signal } = controller;
  const many = images.isCachedMany(["answered", "held", "held"], { signal, settled: true });
  await images.isCached("answered");
  assert.equal(listeners, 1);
  controller.abort();
  const outcomes = await many;
  assert.deepEqual(outcomes.map((outcome) => outcome.status), ["fulfilled", "rejected", "rejected"]);
  assert.deepEqual(outcomes.slice(1).map((outcome) => outcome.reason.cause.code), [-32800, -32800]);
  assert.equal(listeners, 0);
});
