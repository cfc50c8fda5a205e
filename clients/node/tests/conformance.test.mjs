import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startHTTP } from "./support/http.mjs";
import { mismatch } from "./support/patterns.mjs";
import { atEnd, realBinary, scratchFolder } from "./support/servers.mjs";
import { Wire } from "./support/wire.mjs";

const folder = fileURLToPath(new URL("../../../protocol/conformance/", import.meta.url));
const fixtures = fileURLToPath(new URL("../../../Tests/Fixtures", import.meta.url));
const types = { ".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml" };

const documents = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .map((name) => [name, JSON.parse(readFileSync(path.join(folder, name), "utf8"))]);

test("there are conformance cases", () => {
  assert.ok(documents.flatMap(([, document]) => document.cases).length > 0);
});

for (const [name, document] of documents) {
  for (const one of document.cases) {
    const framings = (one.framing ?? "both") === "both" ? ["lines", "content-length"] : [one.framing];
    for (const framing of framings) {
      test(`${name}: ${one.name} (${framing})`, (t) => run(t, one, framing));
    }
  }
}

async function run(t, one, framing) {
  const scratch = await scratchFolder(t);
  const places = { fixtures, cache: path.join(scratch, "cache"), work: path.join(scratch, "work") };
  await Promise.all([mkdir(places.cache), mkdir(places.work)]);
  if (JSON.stringify(one).includes("${http}")) places.http = (await startFixtureHTTP(t)).base;
  const { steps, args = [] } = fill(one, places);

  // Without arguments the server has none to parse, which in a debug build is most of its start.
  const env = { ...process.env, HALCYON_CACHE_DIR: places.cache };
  const wire = new Wire(realBinary(), args, framing, { cwd: places.work, env });
  // A server that hangs would hang the test with it: this is no measure of speed.
  const watchdog = setTimeout(() => wire.child.kill("SIGKILL"), 60_000);
  atEnd(t, () => {
    clearTimeout(watchdog);
    wire.child.kill("SIGKILL");
  });
  for (const [index, step] of steps.entries()) await take(wire, step, `Step ${index + 1}`);
  wire.child.stdin.end();
  const [exitCode, signal] = await wire.exit;
  assert.deepEqual({ exitCode, signal }, { exitCode: one.exit ?? 0, signal: null });
  assert.equal(await wire.next(), undefined, "The server sent more than the case expects.");
  assert.equal(wire.rest, "");
}

async function take(wire, step, place) {
  if (step.delete !== undefined) await rm(step.delete, { recursive: true });
  if (step.write) await writeFile(step.write.path, step.write.text);
  if (step.file) await copyFile(path.resolve(fixtures, step.file.copy), step.file.to);
  if (step.raw !== undefined) wire.send(step.raw);
  if (step.send !== undefined) wire.send(JSON.stringify(step.send));
  if (step.expect !== undefined && step.expect !== null) {
    const found = mismatch(await wire.next(), step.expect);
    assert.equal(found, undefined, `${place}: ${found}`);
  }
  if (step.expectAny) await takeAny(wire, step.expectAny, place);
}

async function takeAny(wire, patterns, place) {
  const left = [...patterns];
  for (let count = 0; count < patterns.length; count++) {
    const message = await wire.next();
    const index = left.findIndex((pattern) => mismatch(message, pattern) === undefined);
    assert.notEqual(index, -1, `${place}: ${JSON.stringify(message)} matches none of ${JSON.stringify(left)}.`);
    left.splice(index, 1);
  }
}

function fill(value, places) {
  if (typeof value === "string") return value.replace(/\$\{(fixtures|cache|work|http)\}/g, (_, name) => places[name]);
  if (Array.isArray(value)) return value.map((inner) => fill(inner, places));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, places)]));
}

function startFixtureHTTP(t) {
  const serve = async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    try {
      const bytes = await readFile(path.join(fixtures, path.normalize(decodeURIComponent(pathname))));
      const type = types[path.extname(pathname)] ?? "application/octet-stream";
      response.writeHead(200, { "Content-Type": type, "Content-Length": bytes.length }).end(bytes);
    } catch {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("There is no such fixture.");
    }
  };
  const html = (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Hello</title>");
  };
  return startHTTP(t, new Proxy({ "/html": html }, { get: (own, key) => own[key] ?? serve }));
}
