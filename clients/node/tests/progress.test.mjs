import assert from "node:assert/strict";
import { test } from "node:test";
import { Gate, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { fakeClient, startClient } from "./support/servers.mjs";

test("progress begins, grows, and ends before the answer", async (t) => {
  const cat = png(6, 4, [9, 9, 9], 300_000);
  const half = new Gate();
  const http = await startHTTP(t, {
    "/cat.png": async (_request, response) => {
      response.writeHead(200, { "Content-Type": "image/png", "Content-Length": cat.length });
      response.write(cat.subarray(0, 150_000));
      await half.opened;
      response.end(cat.subarray(150_000));
    },
  });
  const images = await startClient(t);
  const reports = [];
  const onProgress = (progress) => {
    reports.push(progress);
    if (progress.kind === "report") half.open(); // The second half is sent only when the first was told of.
  };
  await images.retrieve({ url: http.url("/cat.png") }, { onProgress });
  const count = reports.length;
  assert.equal(reports[0].kind, "begin");
  assert.equal(reports.at(-1).kind, "end");
  const bytes = reports.map((report) => report.receivedBytes).filter((value) => value !== undefined);
  assert.deepEqual(bytes, [...new Set(bytes)].sort((one, other) => one - other));
  assert.ok(reports.some((report) => report.totalBytes === cat.length));
  await images.ping();
  assert.equal(reports.length, count);
});

test("each of many gets its own progress, with its index", async (t) => {
  const source = `onMessage(({ id, params }) => {
    const value = { kind: "report", message: params.url };
    send({ method: "$/progress", params: { token: params.workDoneToken, value } });
    answer(id, {});
  });`;
  const images = await fakeClient(t, source);
  const told = [];
  await images.retrieveMany(["a", "b", "c"], { onProgress: (value, index) => told.push([index, value.message]) });
  assert.deepEqual(told, [[0, "a"], [1, "b"], [2, "c"]]);
});

test("a token of one's own is nobody else's, and its progress goes to onNotification", async (t) => {
  const source = `
    const tokens = [];
    onMessage(({ id, params }) => {
      tokens.push(params.workDoneToken);
      if (id < 2) return;
      for (const token of tokens) send({ method: "$/progress", params: { token, value: { kind: "report" } } });
      answer(id, {});
      answer(1, {});
    });`;
  const [own, other] = [[], []];
  const images = await fakeClient(t, source, { onNotification: (method, { token }) => own.push(token) });
  await Promise.all([images.call("x", { workDoneToken: 2 }), images.call("x", {}, { onProgress: () => other.push(1) })]);
  assert.deepEqual([own, other], [[2], [1]]);
});

test("a call without onProgress asks for none, and other notifications go to onNotification", async (t) => {
  const source = `onMessage(({ id, params }) => {
    send({ method: "log", params: { level: "info" } });
    answer(id, params);
  });`;
  const told = [];
  const images = await fakeClient(t, source, { onNotification: (...args) => told.push(args) });
  assert.deepEqual(await images.call("echo", { a: 1 }), { a: 1 });
  assert.deepEqual(told, [["log", { level: "info" }]]);
  await assert.rejects(images.call("echo", [1], { onProgress() {} }), TypeError);
});
