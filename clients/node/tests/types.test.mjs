import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import * as api from "halcyon-client";
import { packageFolder, scratchFolder } from "./support/servers.mjs";

const run = promisify(execFile);
const read = (name) => readFile(new URL(`../${name}`, import.meta.url), "utf8");
const hand = await read("index.d.ts");
const codes = await read("types/codes.d.ts");
const declarations = [hand, codes, await read("types/errors.d.ts")].join("\n");
const classBody = (text) => /^export (?:abstract )?class (?:Client|Methods)\b.*?\{\n(.*?)^\}/ms.exec(text)[1];
const bodies = { "index.d.ts": classBody(hand), "types/methods.d.ts": classBody(await read("types/methods.d.ts")) };

test("what is made from the protocol is what the protocol says", async () => {
  await run("python3", [path.join(packageFolder, "../generate.py"), "--check", "node"]);
});

test("the types declare the values that are exported, and no others", () => {
  const declared = Array.from(declarations.matchAll(/^export (?:class|const|function) (\w+)/gm), (match) => match[1]);
  assert.deepEqual(declared.sort(), Object.keys(api).sort());
});

test("the types declare the methods that the client has, and no others", () => {
  const declared = Object.values(bodies).flatMap((body) =>
    Array.from(body.matchAll(/^  (?:static |get )?(\w+)[(<]/gm), (match) => match[1]),
  );
  const { prototype } = api.Client;
  const own = [prototype, Object.getPrototypeOf(prototype)].flatMap((each) => Object.getOwnPropertyNames(each));
  assert.deepEqual([...new Set(declared)].sort(), [...new Set([...own, "start"])].sort());
});

test("the types declare every error code with its number", () => {
  const table = /ErrorCode: Readonly<\{(.*?)\}>/s.exec(codes)[1];
  const declared = Array.from(table.matchAll(/^  (\w+): (-?\d+);/gm), ([, name, code]) => [name, Number(code)]);
  assert.deepEqual(declared, Object.entries(api.ErrorCode));
});

for (const [file, body] of Object.entries(bodies)) {
  test(`every declaration of the client in ${file} is documented`, () => {
    const lines = body.split("\n");
    const members = lines.flatMap((line, index) => (/^  (?:static |get |\[)?\w.*[({<]/.test(line) ? [index] : []));
    const undocumented = members.filter((index) => !lines[index - 1]?.trim().endsWith("*/"));
    const overloads = undocumented.filter((index) => {
      const name = /(\w+)[(<]/.exec(lines[index])[1];
      return !members.some((other) => other < index && /(\w+)[(<]/.exec(lines[other])?.[1] === name);
    });
    assert.deepEqual(overloads.map((index) => lines[index]), []);
  });
}

const hasCompiler = await run("tsc", ["--version"]).then(
  () => true,
  () => false,
);

test("a strict program in TypeScript is right, and what is wrong in it is found", { skip: !hasCompiler && "no tsc" }, async (t) => {
  const folder = await scratchFolder(t);
  const modules = path.join(folder, "node_modules");
  await mkdir(path.join(modules, "@types/node"), { recursive: true });
  await symlink(packageFolder, path.join(modules, "halcyon-client"));
  await writeFile(path.join(modules, "@types/node/index.d.ts"), await read("tests/types/node.d.ts"));
  await writeFile(path.join(modules, "@types/node/package.json"), `{ "name": "@types/node", "version": "1.0.0" }`);
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(path.join(folder, "uses.ts"), await read("tests/types/uses.ts"));
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", lib: ["es2022", "dom"], types: ["node"], preserveSymlinks: true };
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["uses.ts"] }));
  const told = await run("tsc", ["-p", "."], { cwd: folder }).catch((error) => error);
  assert.equal(told.stdout, "");
});
