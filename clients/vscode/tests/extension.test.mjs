import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { heldRoute, startHTTP } from "../../node/tests/support/http.mjs";
import { png } from "../../node/tests/support/images.mjs";
import { atEnd, realBinary, scratchFolder } from "../../node/tests/support/servers.mjs";
import { CancellationTokenSource, configure, document, done, Position, requireExtension, reset, vscode } from "./support/vscode.mjs";

const extension = requireExtension("./extension.js");
const { flags, serverArguments, serverSettings } = requireExtension("./lib/settings.js");
const folder = fileURLToPath(new URL("../", import.meta.url));
const manifest = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
const run = promisify(execFile);

const fixture = (name) => readFile(path.join(folder, "../../Tests/Fixtures", name));

async function activate(t) {
  reset();
  configure("binary", realBinary());
  configure("cacheDir", await scratchFolder(t));
  const context = { subscriptions: [] };
  const api = extension.activate(context);
  atEnd(t, async () => {
    await extension.deactivate();
    for (const one of context.subscriptions) one.dispose();
  });
  const hover = (text, line, character, token = new CancellationTokenSource().token) =>
    done.providers[0].provider.provideHover(document(text), new Position(line, character), token);
  return { api, hover };
}

function openEditor(text, line, character) {
  vscode.window.activeTextEditor = { document: document(text), selection: { active: new Position(line, character) } };
}

test("the image under the cursor is shown from a local file, scaled, with what it is", async (t) => {
  const http = await startHTTP(t, { "/cat.png": png(1200, 600) });
  const { hover } = await activate(t);
  const text = `# Cats\n\nA ![cat](${http.url("/cat.png")}) here`;
  const { contents, range } = await hover(text, 2, 5);
  const [, file] = /^!\[\]\(file:\/\/(\S+)\|width=400,height=200\)\n\nPNG · 1200 × 600 · .* · loaded now$/.exec(contents.value);
  assert.deepEqual(await readFile(decodeURI(file)), png(1200, 600));
  assert.deepEqual([range.start.line, range.start.character, range.end.character], [2, 2, text.split("\n")[2].indexOf(" here")]);
  assert.match((await hover(text, 2, 5)).contents.value, /from memory$/);
  assert.equal(http.count("/cat.png"), 1);
  assert.deepEqual(done.providers[0].selector, { language: "markdown" });
});

test("a photo that lies on its side is shown and described as it is turned", async (t) => {
  const http = await startHTTP(t, { "/cat.jpg": await fixture("jpeg-orientation-6.jpg") });
  const { api, hover } = await activate(t);
  const { width, height, displayWidth, displayHeight } = await api.call("retrieve", { url: http.url("/cat.jpg") });
  assert.deepEqual([displayWidth, displayHeight], [height, width]);
  assert.notEqual(width, height);
  const { contents } = await hover(`![cat](${http.url("/cat.jpg")})`, 0, 3);
  assert.match(contents.value, new RegExp(`width=${displayWidth},height=${displayHeight}\\).*JPEG · ${displayWidth} × ${displayHeight} ·`, "s"));
});

test("what windows do not show is drawn for them, and without a picture it is described", async (t) => {
  const http = await startHTTP(t, { "/cat.tiff": await fixture("tiff-little-endian.tiff"), "/cut.pdf": Buffer.from("%PDF-1.7\n%%EOF\n") });
  const { hover } = await activate(t);
  const { contents } = await hover(`![cat](${http.url("/cat.tiff")})`, 0, 3);
  const [, file] = /^!\[\]\(file:\/\/(\S+)\|width=\d+,height=\d+\)\n\nTIFF · /.exec(contents.value);
  assert.equal((await readFile(decodeURI(file))).toString("latin1", 1, 4), "PNG");
  assert.match((await hover(`![cut](${http.url("/cut.pdf")})`, 0, 3)).contents.value, /^PDF · /);
});

test("where there is no remote image, nothing is shown and nothing started", async (t) => {
  const { hover } = await activate(t);
  assert.equal(await hover("no image, ![local](a.png)", 0, 12), undefined);
  configure("hover.enabled", false);
  assert.equal(await hover("![cat](https://example.com/cat.png)", 0, 3), undefined);
  configure("hover.enabled", true);
  vscode.workspace.isTrusted = false;
  assert.equal(await hover("![cat](https://example.com/cat.png)", 0, 3), undefined);
});

test("a hover that is no longer wanted stops the download and shows nothing", async (t) => {
  const held = heldRoute(png(1, 1));
  const http = await startHTTP(t, { "/cat.png": held });
  const { hover } = await activate(t);
  const source = new CancellationTokenSource();
  const shown = hover(`![cat](${http.url("/cat.png")})`, 0, 3, source.token);
  await held.asked;
  source.cancel();
  assert.equal(await shown, undefined);
  await held.left;
});

test("a failure is shown in the hover, as text and not as Markdown", async (t) => {
  const http = await startHTTP(t, { "/big.png": png(1, 1, undefined, 5000) });
  const { hover } = await activate(t);
  const gone = await hover(`![cat](${http.url("/[x](y).png")})`, 0, 3);
  assert.match(gone.contents.value, /the server answered 404\.$/);
  assert.match(gone.contents.value, /\\\[x\\\]\\\(y\\\)/);
  configure("hover.maxBytes", 100);
  const big = await hover(`![cat](${http.url("/big.png")})`, 0, 3);
  assert.match(big.contents.value, /maxBytes/);
});

test("the commands inspect, load anew, tell, clear and restart", async (t) => {
  const http = await startHTTP(t, { "/cat.png": png(30, 20) });
  const { api } = await activate(t);
  const url = http.url("/cat.png");
  openEditor(`![cat](${url})`, 0, 2);
  await done.commands.get("halcyon.inspectImage")();
  assert.match(done.errors.pop(), /is not in the cache/);
  await done.commands.get("halcyon.refreshImage")();
  await done.commands.get("halcyon.refreshImage")();
  assert.equal(http.count("/cat.png"), 2);
  assert.match(done.information.pop(), /^Loaded 30 × 20, /);
  assert.ok(done.progress.length > 0);
  await done.commands.get("halcyon.inspectImage")();
  assert.equal(JSON.parse(done.documents.pop().content).key, url);
  openEditor(`![cat](${url}#the-tail)`, 0, 4);
  await done.commands.get("halcyon.inspectImage")();
  assert.equal(JSON.parse(done.documents.pop().content).key, url);
  await done.commands.get("halcyon.showStats")();
  assert.equal(JSON.parse(done.documents.pop().content).size.disk.count, 1);
  await done.commands.get("halcyon.clearCache")();
  assert.equal((await api.call("isCached", { key: url })).cached, true);
  done.answer = "Clear";
  await done.commands.get("halcyon.clearCache")();
  assert.match(done.information.pop(), /^Removed 1 images, /);
  await done.commands.get("halcyon.restartServer")();
  assert.equal(done.information.pop(), "The image server runs.");
  openEditor("nothing", 0, 2);
  await done.commands.get("halcyon.inspectImage")();
  assert.equal(done.information.pop(), "There is no remote image under the cursor.");
  assert.deepEqual(done.errors, []);
});

test("every command of the manifest is there, and no other", async (t) => {
  await activate(t);
  assert.deepEqual([...done.commands.keys()].sort(), manifest.contributes.commands.map((one) => one.command).sort());
});

test("settings reach the server, which is started anew when they change", async (t) => {
  const { api } = await activate(t);
  assert.notEqual((await api.call("configure")).disk.bytesLimit, 7654321);
  configure("diskLimit", 7654321);
  assert.equal((await api.call("configure")).disk.bytesLimit, 7654321);
});

test("every setting of the manifest is a flag of the server that does what it says, or the extension's own", async (t) => {
  const own = ["binary", "hover.enabled", "hover.maxSize", "hover.maxBytes"];
  const declared = Object.keys(manifest.contributes.configuration.properties).map((name) => name.replace("halcyon.", ""));
  assert.deepEqual([...Object.keys(flags), ...own].sort(), declared.sort());
  assert.deepEqual(serverSettings, ["binary", ...Object.keys(flags)]);
  const values = {
    cacheDir: await scratchFolder(t),
    memoryLimit: 1234567,
    diskLimit: 0,
    timeout: 7,
    networkPolicy: "public",
    allowedHosts: ["a.example", "*.b.example"],
    proxy: "none",
    offline: true,
    logLevel: "info",
  };
  assert.deepEqual(Object.keys(values), Object.keys(flags));
  const args = serverArguments((name) => values[name]);
  const { stdout } = await run(realBinary(), ["config", "--json", ...args]);
  const effective = JSON.parse(stdout);
  const shown = JSON.stringify(effective);
  for (const name of ["cacheDir", "timeout", "networkPolicy", "offline", "logLevel"]) {
    assert.equal(String(effective[name].value), String(values[name]), name);
    assert.equal(effective[name].source, "flag", name);
  }
  for (const value of ["1234567", "*.b.example"]) assert.ok(shown.includes(value), value);
});

test("settings at their defaults give no flags", () => {
  const properties = manifest.contributes.configuration.properties;
  assert.deepEqual(serverArguments((name) => properties[`halcyon.${name}`].default), []);
});

test("other extensions get every method and event", async (t) => {
  const http = await startHTTP(t, { "/cat.png": png(3, 2) });
  const { api } = await activate(t);
  const seen = new Promise((resolve) => api.on("download/didFinish", resolve));
  assert.equal((await api.call("retrieve", { url: http.url("/cat.png") })).width, 3);
  assert.equal((await seen).statusCode, 200);
});

test("the types are what protocol/openrpc.json says", async () => {
  await run("python3", [path.join(folder, "../generate.py"), "--check", "vscode"]);
});

test("the files that the manifest names are all that the extension needs", async (t) => {
  const copy = await scratchFolder(t);
  for (const name of [...manifest.files, "package.json"]) {
    await cp(path.join(folder, name), path.join(copy, name), { recursive: true, dereference: true });
  }
  for (const name of [manifest.main, manifest.types]) await readFile(path.join(copy, name));
  const program = `
    const { Server } = require(${JSON.stringify(path.join(copy, "lib/server.js"))});
    const server = new Server(() => ({ binary: process.env.HALCYON_BIN, args: ["--cache-dir", ${JSON.stringify(path.join(copy, "cache"))}] }));
    server.call("isCached", { key: "k" }).then(({ cached }) => console.log(cached)).then(() => server.stop());`;
  const { stdout, stderr } = await run(process.execPath, ["-e", program], { cwd: copy, env: { ...process.env, HALCYON_BIN: realBinary() } });
  assert.deepEqual([stdout, stderr], ["false\n", ""]);
});

test("the first example of the README prints what its comments say", async (t) => {
  const readme = await readFile(path.join(folder, "README.md"), "utf8");
  const [, example] = /```js\n(.*?)```/s.exec(readme);
  const expected = Array.from(example.matchAll(/console\.log\(.*\/\/ (.*)$/gm), (match) => match[1]);
  assert.ok(expected.length > 0);
  const http = await startHTTP(t, { "/cat.png": png(640, 480) });
  const source = example.replace("https://example.com/cat.png", http.url("/cat.png"));
  assert.notEqual(source, example);
  const { api } = await activate(t);
  const printed = [];
  const body = new (async () => {}).constructor("vscode", "console", source);
  const extensions = { getExtension: (id) => (id === `${manifest.publisher}.${manifest.name}` ? { activate: async () => api } : undefined) };
  await body({ ...vscode, extensions }, { log: (...values) => printed.push(values.join(" ")) });
  assert.deepEqual(printed, expected);
});
