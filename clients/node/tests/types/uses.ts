// Uses of the client in TypeScript: types.test.mjs type-checks this file, and nothing runs it.
import { Client, createReadStream, ErrorCode, HalcyonError } from "halcyon-client";
import type { Delegates, EntryDetails, ImageOptions, Processor } from "halcyon-client";

const client = await Client.start({
  schemes: ["https"],
  delegates: {
    "downloader/modifyRequest": async ({ url, headers }, { signal }) => (signal.aborted ? null : { headers: { ...headers, url } }),
    "downloader/redirect": ({ url, from }) => (url.startsWith("https:") || from === url ? undefined : null),
    "downloader/challenge": ({ failures }) => (failures === 0 ? { use: { user: "ann", password: "…" } } : "cancel"),
  },
});

const cat = await client.retrieve(new URL("https://example.com/cat.png"));
export const facts: [number, string | null, boolean | undefined] = [cat.width, cat.path, cat.stale];
export const bytes: Buffer = (await client.retrieve({ url: "u", as: "data" })).data;
await client.store({ key: "k", data: bytes, metadata: { by: "me" } });
await client.retrieve({ url: "u", processors: "crop:9x9,smart/format:webp" });
await client.retrieveMany(["a", { url: "b", processors: [{ resize: { width: 5 } }] }], { settled: true });

export const entries: EntryDetails[] = [];
for await (const entry of client.listEntries({ host: "example.com", pageSize: 3 })) entries.push(entry);
for await (const { event, params } of client.events(["log", "download/didFinish"])) console.log(event, params);
for await (const one of client.events(["log", "cache/didClean"])) one.event === "log" ? one.params.level.trim() : one.params.keys.pop();
await client.subscribe(["log", "cache/didClean"], (event, params) => {
  if (event === "log") params.level.trim();
  else params.keys.pop();
});
await client.subscribe("image/didChange", (_, { key, path }) => console.log(key, path));

export const perhaps = new Client({ delegates: { "downloader/redirect": undefined } });
const { memory } = await client.configure({ disk: { expiration: { days: 3 } } });
if (memory) memory.totalBytesLimit.toFixed();
export const cancelled: number = await client.cancelAll();
export const code: 10002 = ErrorCode.invalidStatusCode;
export const reason: number | undefined = (await client.explain("u")).error?.code;
export const options: ImageOptions = { maxBytes: 4, "x-mine": 3 };

createReadStream(cat).pipe(null);
export const small: Processor[] = [{ resize: { width: 200 } }, { format: { to: "webp" } }];
await client.retrieve({ url: "u", processors: small });
export const isGone = (error: HalcyonError) => error.kind === "serverGone" || error.kind === "invalidStatusCode";

// @ts-expect-error: the parameter is width.
await client.retrieve({ url: "u", processors: [{ resize: { widht: 200 } }] });
// @ts-expect-error: the parameter is height.
await client.retrieve({ url: "u", processors: [{ resize: { width: 200, hieght: 100 } }] });
// @ts-expect-error: the processor is resize.
await client.retrieve({ url: "u", processors: [{ resise: { width: 200 } }] });
// @ts-expect-error: there is no such kind.
export const isTypo = (error: HalcyonError) => error.kind === "invalidStatuscode";
// @ts-expect-error: an image is named by its key.
await client.isCached({ url: "u" });
// @ts-expect-error: the option is maxBytes.
await client.retrieve({ url: "u", options: { maxByte: 5 } });
// @ts-expect-error: there is no such form.
await client.retrieve({ url: "u", as: "bytes" });
// @ts-expect-error: the parameter is key.
await client.isCached({ kee: "k" });
// @ts-expect-error: a text is no list of requests.
await client.retrieveMany("https://example.com/cat.png", { settled: true });
// @ts-expect-error: a text is no list of keys.
await client.isCachedMany("k");
// @ts-expect-error: the event is cache/didClean.
await client.subscribe("cache/didclaen");
// @ts-expect-error: nobody asks that.
export const delegates: Delegates = { "downloader/nothing": () => {} };
