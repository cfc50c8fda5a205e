import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { createReadStream, HalcyonError } from "halcyon-client";
import { png } from "./support/images.mjs";
import { scratchFolder, startClient } from "./support/servers.mjs";

const picture = png(6, 4, [1, 2, 3], 200_000);

test("an image is a stream, of its file or of the bytes that came", async (t) => {
  const images = await startClient(t);
  await images.store({ key: "k", data: picture });
  const image = await images.retrieve({ key: "k" });
  assert.deepEqual(await buffer(createReadStream(image)), picture);
  const sent = await new Response(Readable.toWeb(createReadStream(image))).arrayBuffer();
  assert.deepEqual(Buffer.from(sent), picture);
  const bytes = await images.retrieve({ key: "k", as: "data" });
  await images.clear();
  assert.deepEqual(await buffer(createReadStream({ ...bytes, path: null, uri: null })), picture);
  await assert.rejects(buffer(createReadStream(image)), { code: "ENOENT" });
  assert.throws(() => createReadStream({ path: null, uri: null }), /neither a file nor bytes.*as: "data"/);
});

test("a file whose path is not UTF-8 is found by its URI", async (t) => {
  const folder = await scratchFolder(t);
  const file = Buffer.concat([Buffer.from(`${folder}${path.sep}`), Buffer.of(0xff, 0x20, 0x61)]);
  await writeFile(file, picture);
  assert.deepEqual(await buffer(createReadStream({ path: null, uri: `file://${folder}/%FF%20a` })), picture);
});

test("a URL in place of a key is refused with what to say instead", async (t) => {
  const images = await startClient(t);
  for (const call of [images.isCached, images.cachePath, images.inspect, images.remove]) {
    await assert.rejects(call.call(images, { url: "https://example.com/cat.png" }), {
      kind: "invalidParams",
      message: /did you mean "key"/,
    });
  }
});

test("a code that this version does not know has the kind unknown, and its name in the data", () => {
  const error = HalcyonError.fromResponse({ code: 12_345, message: "m", data: { name: "brandNew" } }, "retrieve");
  assert.deepEqual([error.kind, error.data.name], ["unknown", "brandNew"]);
});
