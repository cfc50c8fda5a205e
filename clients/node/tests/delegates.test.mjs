import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "halcyon-client";
import { Gate, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { eventually, fakeClient, startClient } from "./support/servers.mjs";

const modify = "downloader/modifyRequest";
const picture = png(4, 4);

test("a request is sent as its delegate says, and one that it wants not is not sent", async (t) => {
  const seen = [];
  const http = await startHTTP(t, {
    "/a.png": (request, response) => {
      seen.push(request.headers["x-signed"]);
      response.writeHead(200, { "Content-Type": "image/png" }).end(picture);
    },
  });
  const answers = [(draft) => ({ headers: { ...draft.headers, "X-Signed": "yes" } }), () => undefined, () => null];
  const images = await startClient(t, { delegates: { [modify]: async (draft) => answers.shift()(draft) } });
  const options = { forceRefresh: true, headers: { "X-A": "1" } };
  await images.retrieve({ url: http.url("/a.png"), options });
  await images.retrieve({ url: http.url("/a.png"), options });
  await assert.rejects(images.retrieve({ url: http.url("/a.png"), options }), {
    code: ErrorCode.downloadCancelledBeforeStarting,
  });
  // The request decides before the client.
  await images.retrieve({ url: http.url("/a.png"), options: { ...options, delegates: [] } });
  assert.deepEqual(seen, ["yes", undefined, undefined]);
  assert.equal(answers.length, 0);
});

test("a delegate that fails leaves the matter to the server", async (t) => {
  const http = await startHTTP(t, { "/a.png": picture });
  const log = [];
  const fail = () => {
    throw new Error("no idea");
  };
  const images = await startClient(t, { delegates: { [modify]: fail }, stderr: (text) => log.push(text) });
  assert.equal((await images.retrieve(http.url("/a.png"))).width, 4);
  await images.close();
  assert.match(log.join(""), /downloader\/modifyRequest/);
});

test("a cancelled call tells the delegate that is being asked", async (t) => {
  const asked = new Gate();
  let isTold = false;
  const delegate = (_, { signal }) => {
    signal.addEventListener("abort", () => (isTold = true));
    asked.open();
    return new Promise(() => {});
  };
  const images = await startClient(t, { delegates: { [modify]: delegate } });
  const controller = new AbortController();
  const call = images.retrieve("http://127.0.0.1:1/", { signal: controller.signal });
  await asked.opened;
  controller.abort();
  await assert.rejects(call, { name: "AbortError" });
  // Without a call nothing else keeps the event loop alive.
  await eventually(async () => isTold, "the delegate was told");
});

test("every question gets one answer, and one without a delegate an error", async (t) => {
  const source = `
    const answers = [];
    onMessage(({ id, method, params, result, error }) => {
      if (method === "initialize") {
        answer(id, {});
        for (const [id, method] of [["q1", "${modify}"], ["q2", "constructor"], ["q3", "bad"], ["q4", "late"]]) {
          send({ id, method, params: { n: 1 } });
        }
        send({ method: "$/cancelRequest", params: { id: "q4" } });
        send({ method: "$/cancelRequest", params: { id: "q9" } });
      } else if (method) answer(id, { capabilities: params, answers });
      else answers.push([id, result ?? error.code]);
    });`;
  const late = (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("late")));
  const delegates = { [modify]: ({ n }) => ({ headers: { n: `${n}` } }), bad: () => 1n, late };
  const notified = [];
  const images = await fakeClient(t, source, { delegates, onNotification: (method) => notified.push(method) });
  const { capabilities } = await images.call("declared", { delegates: Object.keys(delegates) });
  assert.deepEqual(capabilities, { delegates: [modify, "bad", "late"] });
  await eventually(async () => (await images.call("answers")).answers.length >= 3, "the questions were answered");
  const { answers } = await images.call("answers");
  assert.deepEqual(answers.sort(), [["q1", { headers: { n: "1" } }], ["q2", -32601], ["q3", -32603]]);
  assert.deepEqual(notified, []);
});

test("whatever a delegate throws or answers, the server gets an answer that it can read", async (t) => {
  const source = `
    const answers = {};
    onMessage(({ id, method, params, result, error }) => {
      if (method === "initialize") params.capabilities.delegates.forEach((method) => send({ id: method, method, params: {} }));
      else if (method) answer(id, answers);
      else answers[id] = error?.message ?? result;
    });`;
  const raise = (value) => () => {
    throw value;
  };
  const delegates = {
    nothing: raise(Object.create(null)),
    text: raise("no idea"),
    long: raise(new Error("x".repeat(100_000_000))),
    half: raise(new Error("\ud800")),
    halfAnswer: () => ({ headers: { a: "\ud800" } }),
    endless: () => ({ timeout: Infinity }),
    large: () => ({ body: "x".repeat(70_000_000) }),
    right: () => ({ body: "y" }),
  };
  const images = await fakeClient(t, source, { delegates });
  const count = Object.keys(delegates).length;
  await eventually(async () => Object.keys(await images.call("answers")).length === count, "every question was answered");
  const { nothing, text, long, half, halfAnswer, endless, large, right } = await images.call("answers");
  assert.match(nothing, /null prototype/);
  assert.deepEqual([text, long, half, right], ["no idea", "x".repeat(1000), "\ufffd", { body: "y" }]);
  assert.match(halfAnswer, /half of a surrogate pair/);
  assert.match(endless, /must be finite/);
  assert.match(large, /70000\d+ bytes/);
});

test("the signal of a question is aborted when the server dies and when the client is closed", async (t) => {
  for (const end of [(images) => process.kill(images.pid, "SIGKILL"), (images) => images.close({ timeoutMs: 0 })]) {
    const asked = new Gate();
    const delegate = (_, { signal }) => {
      asked.open(signal);
      return new Promise(() => {});
    };
    const images = await startClient(t, { delegates: { [modify]: delegate } });
    const call = assert.rejects(images.retrieve("http://127.0.0.1:1/"));
    const signal = await asked.opened;
    await end(images);
    await call;
    await images.close();
    assert.equal(signal.aborted, true);
  }
});

test("a delegate that is no function is refused, and one that is undefined is none", async (t) => {
  await assert.rejects(startClient(t, { delegates: { [modify]: {} } }), TypeError);
  const source = `let told; onMessage(({ id, params }) => { told ??= params; answer(id, told); });`;
  const images = await fakeClient(t, source, { delegates: { [modify]: undefined, "downloader/redirect": () => null } });
  assert.deepEqual(await images.call("told"), { capabilities: { delegates: ["downloader/redirect"] } });
});
