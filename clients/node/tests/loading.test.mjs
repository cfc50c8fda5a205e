import assert from "node:assert/strict";
import { test } from "node:test";
import { startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { startClient } from "./support/servers.mjs";

test("an image is downloaded past the cache, probed, and prefetched with progress", async (t) => {
  const picture = png(31, 17);
  const http = await startHTTP(t, { "/a.png": picture, "/b.png": png(8, 8) });
  const client = await startClient(t);
  const [first, second, missing] = ["/a.png", "/b.png", "/missing.png"].map((name) => http.url(name));

  const { data, width } = await client.download(first);
  assert.ok(Buffer.isBuffer(data) && data.equals(picture));
  assert.equal(width, 31);
  assert.equal((await client.download({ url: first, as: "none" })).data, undefined);
  assert.equal((await client.isCached(first)).cached, false);
  const { format, height, cacheType } = await client.probe(new URL(first));
  assert.deepEqual({ format, height, cacheType }, { format: "png", height: 17, cacheType: "none" });

  const reports = [];
  const urls = [first, new URL(second), missing];
  const done = await client.prefetch({ urls }, { onProgress: (report) => reports.push(report) });
  assert.deepEqual(new Set(done.completed), new Set([first, second]));
  assert.deepEqual(done.failed.map(({ url, error }) => [url, error.code]), [[missing, 10002]]);
  assert.deepEqual([reports.at(0).kind, reports.at(-1).kind, reports.at(-1).total], ["begin", "end", 3]);
});

test("everything under way is given up at once", async (t) => {
  const http = await startHTTP(t, { "/slow.png": () => {} });
  const client = await startClient(t);
  const asked = assert.rejects(client.retrieve(http.url("/slow.png")), { kind: "requestCancelled" });
  assert.equal(await client.cancelAll({ url: http.url("/slow.png") }), 1);
  await asked;
});
