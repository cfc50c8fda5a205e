import { accessSync, constants, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "halcyon-client";

/** The folder of this package. */
export const packageFolder = fileURLToPath(new URL("../../", import.meta.url));

/** The real server. Without it the tests fail: they are nothing without it. */
export function realBinary() {
  const binary = process.env.HALCYON_BIN;
  if (!binary) throw new Error("Set HALCYON_BIN to the halcyon executable: these tests run against the real one.");
  accessSync(binary, constants.X_OK);
  return path.resolve(binary);
}

const cleanUps = new WeakMap();

/** Does `action` when the test ends; what was asked for last is done first. */
export function atEnd(t, action) {
  if (!cleanUps.has(t)) {
    const actions = [];
    cleanUps.set(t, actions);
    t.after(async () => {
      while (actions.length > 0) await actions.pop()();
    });
  }
  cleanUps.get(t).push(action);
}

/** Makes a folder that goes with the test. */
export async function scratchFolder(t) {
  const folder = await mkdtemp(path.join(tmpdir(), "halcyon-node-"));
  // A server whose program ended may still be ending there.
  atEnd(t, () => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** Starts a client of the real server with an empty cache of its own. */
export async function startClient(t, options = {}) {
  const cacheDir = options.cacheDir ?? (await scratchFolder(t));
  const client = await Client.start({ binary: realBinary(), cacheDir, ...options });
  atEnd(t, () => client.close());
  return client;
}

const fakePrelude = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const answer = (id, result) => send({ id, result });
const onMessage = (handle) => {
  let text = "";
  process.stdin.setEncoding("utf8").on("data", (chunk) => {
    const lines = (text + chunk).split("\\n");
    text = lines.pop();
    lines.forEach((line) => handle(JSON.parse(line)));
  });
};
`;

/**
 * Writes an executable that behaves as the real server never should, and returns its path. `source` is JavaScript that
 * may use `onMessage(handle)`, `send(message)` and `answer(id, result)`.
 */
export async function fakeServer(t, source) {
  const file = path.join(await scratchFolder(t), "fake-halcyon.mjs");
  await writeFile(file, `#!${process.execPath}\n${fakePrelude}\n${source}\n`);
  await chmod(file, 0o755);
  return file;
}

/** Makes a client of a fake server. */
export async function fakeClient(t, source, options = {}) {
  const client = new Client({ binary: await fakeServer(t, source), ...options });
  atEnd(t, () => client.close({ timeoutMs: 100 }));
  return client;
}

/** Tells whether a process runs; one that ended and was not yet collected by its parent does not. */
export function isRunning(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2)[0]);
  } catch {
    return false;
  }
}

/** Waits until `condition` holds; fails after ten seconds, which only a broken build takes. */
export async function eventually(condition, what) {
  for (let attempt = 0; attempt < 1000; attempt++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`It never came true that ${what}.`);
}
