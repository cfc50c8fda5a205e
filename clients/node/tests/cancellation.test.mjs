import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, ErrorCode, HalcyonError } from "halcyon-client";
import { Gate, heldRoute, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { atEnd, fakeClient, startClient } from "./support/servers.mjs";

const cat = png(6, 4);

test("an aborted retrieve rejects with the server's answer as the cause, and its transfer stops (E2-12)", async (t) => {
  const held = heldRoute(cat);
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const controller = new AbortController();
  const call = images.retrieve({ url: http.url("/cat.png") }, { signal: controller.signal });
  await held.asked;
  controller.abort();
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof AbortError);
    assert.deepEqual([error.name, error.code], ["AbortError", "ABORT_ERR"]);
    assert.ok(error.cause instanceof HalcyonError);
    assert.equal(error.cause.code, ErrorCode.requestCancelled);
    return true;
  });
  await held.left;
  assert.equal(await images.ping(), null);
});

test("a caller that gives up does not disturb another of the same URL (E2-11)", async (t) => {
  const held = heldRoute(cat);
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const controller = new AbortController();
  const url = http.url("/cat.png");
  const leaving = images.retrieve({ url }, { signal: controller.signal });
  const staying = images.retrieve({ url });
  await held.asked;
  controller.abort(new Error("the window was closed"));
  await assert.rejects(leaving, { message: "the window was closed" });
  held.open();
  assert.equal((await staying).width, 6);
  assert.equal(http.count("/cat.png"), 1);
});

test("AbortSignal.timeout rejects with its TimeoutError", async (t) => {
  const held = heldRoute(cat);
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const call = images.retrieve({ url: http.url("/cat.png") }, { signal: AbortSignal.timeout(20) });
  await assert.rejects(call, { name: "TimeoutError" });
});

const recorder = `
  const seen = [];
  const tokens = new Map();
  onMessage(({ id, method, params }) => {
    seen.push(method);
    if (method === "seen") answer(id, seen);
    if (params?.workDoneToken) tokens.set(id, params.workDoneToken);
    if (method === "progress") send({ method: "$/progress", params: { token: tokens.get(params.of), value: { kind: "report" } } });
    if (method === "late") answer(params.of, "too late");
  });`;

const isBareAbort = (error) => error.name === "AbortError" && error.cause === undefined;

test("a signal that is aborted already, or before the write, sends nothing", async (t) => {
  const images = await fakeClient(t, recorder);
  await assert.rejects(images.call("never", {}, { signal: AbortSignal.abort() }), { name: "AbortError" });
  await assert.rejects(images.call("never", {}, { signal: AbortSignal.abort("mine") }), (error) => error === "mine");
  const controller = new AbortController();
  const call = images.call("never", {}, { signal: controller.signal });
  controller.abort();
  await assert.rejects(call, isBareAbort);
  assert.deepEqual(await images.call("seen"), ["seen"]);
});

test("a controller that is given as the signal is refused, and nothing is sent", async (t) => {
  const images = await fakeClient(t, recorder);
  for (const signal of [new AbortController(), "aborted", 1]) {
    const refused = { name: "TypeError", message: /`signal` must be an AbortSignal/ };
    await assert.rejects(images.call("never", {}, { signal }), refused);
    await assert.rejects(images.isCachedMany(["never"], { signal, settled: true }), refused);
    await assert.rejects(images.events("log", { signal }).next(), refused);
  }
  assert.deepEqual(await images.call("seen"), ["seen"]);
});

test("a signal may be that of many calls without a warning", async (t) => {
  const warnings = [];
  const listener = (warning) => warnings.push(warning.message);
  process.on("warning", listener);
  atEnd(t, () => process.off("warning", listener));
  const images = await fakeClient(t, recorder);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 20 }, () => images.call("seen", {}, { signal })));
  assert.deepEqual(warnings, []);
});

test("a server that never answers a cancel does not hold the caller, and its late answer is ignored", async (t) => {
  const images = await fakeClient(t, recorder);
  const controller = new AbortController();
  const call = images.call("held", {}, { signal: controller.signal });
  assert.deepEqual(await images.call("seen"), ["held", "seen"]);
  controller.abort();
  await assert.rejects(call, isBareAbort);
  images.notify("late", { of: 1 });
  assert.deepEqual(await images.call("seen"), ["held", "seen", "$/cancelRequest", "late", "seen"]);
});

test("a call that waits for the end of a server is given up at once", async (t) => {
  const source = `
    import { closeSync } from "node:fs";
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
    onMessage(() => { closeSync(1); console.error("closed"); });`;
  const closed = new Gate();
  const images = await fakeClient(t, source, { stderr: () => closed.open() });
  let isOver = false;
  const open = assert.rejects(images.ping(), { name: "ServerGoneError" }).then(() => (isOver = true));
  await closed.opened;
  await new Promise(setImmediate); // its end is known too
  const controller = new AbortController();
  const call = images.ping({ signal: controller.signal });
  controller.abort();
  await assert.rejects(call, isBareAbort);
  const outcomes = await images.isCachedMany(["a"], { signal: AbortSignal.abort("mine"), settled: true });
  assert.deepEqual(outcomes, [{ status: "rejected", reason: "mine" }]);
  assert.equal(isOver, false);
  process.kill(images.pid, "SIGKILL");
  await open;
});

test("an abort after the answer changes nothing and sends nothing", async (t) => {
  const images = await fakeClient(t, recorder);
  const controller = new AbortController();
  await images.call("seen", {}, { signal: controller.signal });
  controller.abort();
  assert.deepEqual(await images.call("seen"), ["seen", "seen"]);
});

test("progress after an abort is not told, and a listener that throws cancels its call", async (t) => {
  const images = await fakeClient(t, recorder);
  const controller = new AbortController();
  const told = [];
  const call = images.call("held", {}, { signal: controller.signal, onProgress: (value) => told.push(value) });
  await images.call("seen");
  controller.abort();
  images.notify("progress", { of: 1 });
  await images.call("seen");
  await assert.rejects(call, { name: "AbortError" });
  assert.deepEqual(told, []);

  const reached = new Gate();
  const onProgress = () => {
    reached.open();
    throw new RangeError("no such bar");
  };
  const broken = images.call("held", {}, { onProgress });
  const [, seen] = await Promise.all([images.notify("progress", { of: 4 }), images.call("seen"), reached.opened]);
  assert.ok(seen.includes("progress"));
  await assert.rejects(broken, { name: "RangeError", message: "no such bar" });
  assert.ok((await images.call("seen")).filter((method) => method === "$/cancelRequest").length === 2);
});
