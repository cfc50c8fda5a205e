import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startHTTP } from "./support/http.mjs";
import { png } from "./support/images.mjs";
import { packageFolder, realBinary, scratchFolder } from "./support/servers.mjs";

test("the first example of the README prints what its comments say", async (t) => {
  const readme = await readFile(path.join(packageFolder, "README.md"), "utf8");
  const [, example] = /```js\n(.*?)```/s.exec(readme);
  const expected = Array.from(example.matchAll(/console\.log\(.*\/\/ (.*)$/gm), (match) => match[1]);
  assert.ok(expected.length > 0);

  const http = await startHTTP(t, { "/cat.png": png(640, 480) });
  const source = example.replace("https://example.com/cat.png", http.url("/cat.png"));
  assert.notEqual(source, example);
  const folder = await scratchFolder(t);
  const env = { ...process.env, HALCYON_BIN: realBinary(), XDG_CACHE_HOME: folder, HALCYON_CACHE_DIR: folder };
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source], { cwd: packageFolder, env });
  const { stdout, stderr } = await run;
  assert.deepEqual(stdout.trimEnd().split("\n"), expected);
  assert.equal(stderr, "");
});
