import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startHTTP } from "../../node/tests/support/http.mjs";
import { mismatch } from "../../node/tests/support/patterns.mjs";
import { atEnd, realBinary, scratchFolder } from "../../node/tests/support/servers.mjs";
import { requireExtension } from "./support/vscode.mjs";

const { frame, FrameReader } = requireExtension("./lib/framing.js");

const folder = fileURLToPath(new URL("../../../protocol/conformance/", import.meta.url));
const fixtures = fileURLToPath(new URL("../../../Tests/Fixtures", import.meta.url));
const types = { ".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml" };

/** The one rule by which a case is left out. Those of bytes/ are no messages: they are for a raw pipe, not for a transport. */
const notSpoken = (one) => one.framing === "lines" && "this client speaks Content-Length frames only";

for (const name of readdirSync(folder).filter((file) => file.endsWith(".json")).sort()) {
  const { cases } = JSON.parse(readFileSync(path.join(folder, name), "utf8"));
  test(name, { concurrency: 2 }, async (t) => {
    assert.ok(cases.length > 0);
    await Promise.all(cases.map((one) => t.test(one.name, { skip: notSpoken(one) }, (t) => run(t, one))));
  });
}

/** A server behind the frames of the extension. */
class Wire {
  #messages = [];
  #wake = () => {};
  #ended = false;
  #fault;

  constructor(args, cwd, cache) {
    // Without arguments the server has none to parse, which in a debug build is most of its start.
    const env = { ...process.env, HALCYON_CACHE_DIR: cache };
    this.child = spawn(realBinary(), args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    this.exit = once(this.child, "close");
    this.child.stdin.on("error", () => {});
    const reader = new FrameReader((body) => this.#messages.push(JSON.parse(body)));
    this.child.stdout.on("data", (chunk) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.#fault ??= error;
      }
      this.#wake();
    });
    this.child.stdout.on("end", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  send(body) {
    this.child.stdin.write(frame(body));
  }

  async next() {
    while (this.#messages.length === 0 && !this.#ended && !this.#fault) {
      await new Promise((resolve) => (this.#wake = resolve));
    }
    if (this.#fault) throw this.#fault;
    return this.#messages.shift();
  }
}

async function run(t, one) {
  const scratch = await scratchFolder(t);
  const places = { fixtures, cache: path.join(scratch, "cache"), work: path.join(scratch, "work") };
  await Promise.all([mkdir(places.cache), mkdir(places.work)]);
  if (JSON.stringify(one).includes("${http}")) places.http = (await fixtureHTTP(t)).base;
  const { steps, args = [] } = fill(one, places);
  const wire = new Wire(args, places.work, places.cache);
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
}

async function take(wire, step, place) {
  if (step.delete !== undefined) await rm(step.delete, { recursive: true });
  if (step.write) await writeFile(step.write.path, step.write.text);
  if (step.file) await copyFile(path.resolve(fixtures, step.file.copy), step.file.to);
  if (step.raw !== undefined) wire.send(step.raw);
  if (step.send !== undefined) wire.send(JSON.stringify(step.send));
  const left = step.expectAny ? [...step.expectAny] : step.expect ? [step.expect] : [];
  while (left.length > 0) {
    const message = await wire.next();
    const wrong = left.map((pattern) => mismatch(message, pattern));
    const index = wrong.indexOf(undefined);
    assert.notEqual(index, -1, `${place}: ${wrong.join(" ")}`);
    left.splice(index, 1);
  }
}

function fill(value, places) {
  if (typeof value === "string") return value.replace(/\$\{(fixtures|cache|work|http)\}/g, (_, name) => places[name]);
  if (Array.isArray(value)) return value.map((inner) => fill(inner, places));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, places)]));
}

function fixtureHTTP(t) {
  const file = async (request, response) => {
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
  return startHTTP(t, new Proxy({ "/html": html }, { get: (own, key) => own[key] ?? file }));
}
