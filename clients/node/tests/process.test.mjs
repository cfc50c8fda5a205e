import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { BinaryNotFoundError, Client, ClientClosedError, ServerGoneError } from "halcyon-client";
import { launch, ServerProcess } from "../lib/process.mjs";
import { heldRoute, startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { atEnd, eventually, fakeClient, fakeServer, isRunning, packageFolder, realBinary, scratchFolder, startClient } from "./support/servers.mjs";

test("the binary is found by option, then HALCYON_BIN, then PATH", async (t) => {
  const folder = await scratchFolder(t);
  const link = path.join(folder, "halcyon");
  await symlink(realBinary(), link);
  const cacheDir = path.join(folder, "cache");
  const nowhere = "/nowhere/halcyon";
  const ways = [
    { binary: link, env: { HALCYON_BIN: nowhere } },
    { binary: pathToFileURL(link), env: { HALCYON_BIN: nowhere } },
    { binary: "halcyon", env: { HALCYON_BIN: nowhere, PATH: `${folder}:${process.env.PATH}` } },
    { env: { HALCYON_BIN: link, PATH: process.env.PATH } },
    { env: { HALCYON_BIN: undefined, PATH: `/nowhere:${folder}:${process.env.PATH}` } },
  ];
  for (const way of ways) {
    const images = await Client.start({ cacheDir, ...way });
    assert.equal(images.binary, link);
    await images.close();
  }
});

test("a binary that is not there is an error that says where it was looked for", async (t) => {
  const folder = await scratchFolder(t);
  const plain = path.join(folder, "plain");
  await writeFile(plain, "not a program");
  const env = { HALCYON_BIN: undefined, PATH: folder };
  const cases = [
    [{ binary: "/nowhere/halcyon" }, /option `binary`/, ["/nowhere/halcyon"]],
    [{ binary: plain }, /no executable file/, [plain]],
    [{ env: { ...env, HALCYON_BIN: "/nowhere/bin" } }, /HALCYON_BIN/, ["/nowhere/bin"]],
    [{ env }, /PATH/, [path.join(folder, "halcyon")]],
  ];
  for (const [options, message, searched] of cases) {
    const isIt = (error) => {
      assert.ok(error instanceof BinaryNotFoundError);
      assert.equal(error.code, "HALCYON_BINARY_NOT_FOUND");
      assert.match(error.message, message);
      assert.deepEqual(error.searched, searched);
      return true;
    };
    assert.throws(() => new Client(options), isIt);
    await assert.rejects(Client.start(options), isIt);
  }
});

test("an executable that the system cannot start is an error too", async (t) => {
  const file = path.join(await scratchFolder(t), "halcyon");
  await writeFile(file, "#!/nowhere/interpreter\n");
  await chmod(file, 0o755);
  await assert.rejects(Client.start({ binary: file }), BinaryNotFoundError);
});

test("flags that are too long for the system are an error of this package", async () => {
  await assert.rejects(Client.start({ binary: realBinary(), args: ["x".repeat(200_000)] }), (error) => {
    assert.ok(error instanceof ServerGoneError);
    assert.equal(error.cause.code, "E2BIG");
    return true;
  });
});

test("a place for standard error that there is not is refused", () => {
  for (const stderr of ["pipe", "toString", null]) {
    assert.throws(() => new Client({ binary: realBinary(), stderr }), { name: "TypeError", message: /"inherit", "ignore"/ });
  }
});

test("no file is read where only other schemes are allowed", async (t) => {
  const file = path.join(await scratchFolder(t), "secret.png");
  await writeFile(file, png(6, 4));
  const url = pathToFileURL(file).href;
  assert.equal((await (await startClient(t)).retrieve({ url })).width, 6);
  for (const schemes of [["https"], "https", ["http", "data"]]) {
    const images = await startClient(t, { schemes });
    await assert.rejects(images.retrieve({ url }), { kind: "invalidURL" });
  }
});

test("close lets open calls end, ends the process, and may be repeated", async (t) => {
  const held = heldRoute(png(6, 4));
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const call = images.retrieve({ url: http.url("/cat.png") });
  await held.asked;
  const closed = images.close();
  await assert.rejects(images.ping(), ClientClosedError);
  assert.throws(() => images.notify("ping"), ClientClosedError);
  held.open();
  assert.equal((await call).width, 6);
  assert.deepEqual(await closed, { exitCode: 0, signal: null });
  assert.deepEqual(await images.close(), { exitCode: 0, signal: null });
  assert.equal(isRunning(images.pid), false);
});

test("close does not wait longer than it may for an open call", async (t) => {
  const held = heldRoute(png(6, 4));
  const http = await startHTTP(t, { "/cat.png": held });
  const images = await startClient(t);
  const call = images.retrieve({ url: http.url("/cat.png") });
  const rejected = assert.rejects(call, { name: /HalcyonError|ServerGoneError/ });
  await held.asked;
  await images.close({ timeoutMs: 0 });
  await rejected;
  assert.equal(isRunning(images.pid), false);
});

test("a time to close that is longer than a timer, or none, sends no signal at once", async (t) => {
  const source = `process.on("SIGTERM", () => process.exit(9));
    onMessage(({ id }) => answer(id, null));
    process.stdin.on("end", () => setTimeout(() => process.exit(0), 50));`;
  const times = [{ timeoutMs: Infinity }, { timeoutMs: 2 ** 31 }, { timeoutMs: NaN }, { timeoutMs: null }, null];
  const ends = times.map(async (time) => {
    const images = await fakeClient(t, source);
    await images.ping();
    return images.close(time);
  });
  assert.deepEqual(await Promise.all(ends), times.map(() => ({ exitCode: 0, signal: null })));
});

test("calls that wait for a server to end leave no listeners on its closed streams", async (t) => {
  const source = `import { closeSync } from "node:fs"; setInterval(() => {}, 1000); closeSync(1);`;
  const server = new ServerProcess(launch({ binary: await fakeServer(t, source) }));
  server.stdout.resume();
  await once(server.stdout, "close");
  const releases = Array.from({ length: 20 }, () => server.hold());
  assert.equal(server.stdout.listenerCount("connect"), 0);
  for (const release of releases) release();
  process.kill(server.pid, "SIGKILL");
  await server.exited;
});

test("an await-using block closes the client", async (t) => {
  if (!Symbol.asyncDispose) {
    assert.equal(Client.prototype[Symbol.asyncDispose], undefined);
    return;
  }
  const images = await startClient(t);
  await images[Symbol.asyncDispose]();
  assert.equal(isRunning(images.pid), false);
});

/** Starts a program that uses the package, after a command of the shell, and collects what it prints. */
function runProgram(t, source, env = {}, before = ":") {
  const shell = `${before}; exec "$0" "$@"`;
  const child = spawn("/bin/sh", ["-c", shell, process.execPath, "--input-type=module", "--eval", source], {
    cwd: packageFolder,
    env: { ...process.env, HALCYON_BIN: realBinary(), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A program that wrongly stays would hold the test: this is no measure of speed.
  const watchdog = setTimeout(() => child.kill("SIGKILL"), 30_000);
  atEnd(t, () => {
    clearTimeout(watchdog);
    child.kill("SIGKILL");
  });
  const program = { child, output: "", exited: once(child, "close") };
  child.stdout.setEncoding("utf8").on("data", (text) => (program.output += text));
  return program;
}

const start = `
  import { Client } from "halcyon-client";
  const images = await Client.start({ cacheDir: process.env.CACHE });
  console.log(images.pid);
`;

test("an idle client does not keep Node alive, and the server ends with it", async (t) => {
  const program = runProgram(t, start, { CACHE: await scratchFolder(t) });
  assert.deepEqual(await program.exited, [0, null]);
  const pid = Number(program.output);
  assert.ok(pid > 0);
  await eventually(() => !isRunning(pid), "the server has ended");
});

test("an open call keeps Node alive until it is answered", async (t) => {
  const held = heldRoute(png(6, 4));
  const http = await startHTTP(t, { "/cat.png": held });
  const source = `${start}
    images.retrieve(process.env.PICTURE).then((cat) => console.log("width", cat.width));
  `;
  const program = runProgram(t, source, { CACHE: await scratchFolder(t), PICTURE: http.url("/cat.png") });
  await held.asked;
  held.open();
  assert.deepEqual(await program.exited, [0, null]);
  assert.match(program.output, /width 6/);
});

test("a loop that waits for events keeps Node alive, and nothing else of a subscription does", async (t) => {
  // A timer of AbortSignal.timeout does not: without the loop the program would end before it fires.
  const source = `${start}
    const signal = AbortSignal.timeout(200);
    try {
      for await (const { event } of images.events("cache/didClean", { signal })) console.log(event);
    } catch (error) {
      console.log("ended by", error.name);
    }
    await images.subscribe("cache/didClean", () => {});
  `;
  const program = runProgram(t, source, { CACHE: await scratchFolder(t) });
  assert.deepEqual(await program.exited, [0, null]);
  assert.match(program.output, /ended by TimeoutError/);
});

test("a server does not outlive a client that was killed with a call open", async (t) => {
  const held = heldRoute(png(6, 4));
  const http = await startHTTP(t, { "/cat.png": held });
  const source = `${start} await images.retrieve(process.env.PICTURE);`;
  const program = runProgram(t, source, { CACHE: await scratchFolder(t), PICTURE: http.url("/cat.png") });
  await held.asked;
  const pid = Number(program.output);
  assert.equal(isRunning(pid), true);
  program.child.kill("SIGKILL");
  await eventually(() => !isRunning(pid), "the server has ended");
});

test("without free descriptors a server cannot be started, and the next call tries again", async (t) => {
  const source = `
    import { closeSync, openSync } from "node:fs";
    import { Client } from "halcyon-client";
    const tell = ({ name, kind, retryable, message }) => console.log(name, kind, retryable, message);
    const options = { cacheDir: process.env.CACHE, stderr: "ignore" };
    const files = [];
    const fill = () => {
      try {
        for (;;) files.push(openSync("/dev/null"));
      } catch {}
    };
    const free = () => files.splice(0).forEach(closeSync);
    fill();
    await Client.start(options).catch(tell);
    free();
    const images = await Client.start(options);
    process.kill(images.pid, "SIGKILL");
    await images.ping().catch(() => {});
    fill();
    await images.ping().catch(tell);
    free();
    console.log(await images.ping());
    await images.close();
  `;
  const program = runProgram(t, source, { CACHE: await scratchFolder(t) }, "ulimit -n 60");
  assert.deepEqual(await program.exited, [0, null]);
  const told = /^ServerGoneError serverGone true Cannot start ".*": spawn .*EMFILE\.$/;
  const [first, second, ...rest] = program.output.trimEnd().split("\n");
  assert.match(first, told);
  assert.match(second, told);
  assert.deepEqual(rest, ["null"]);
});
