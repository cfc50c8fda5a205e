import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import * as api from "halcyon-client";

const read = (name) => readFile(new URL(`../${name}`, import.meta.url), "utf8");
const declarations = (await Promise.all(["index.d.ts", "types/errors.d.ts"].map(read))).join("\n");
const clientBody = /^export class Client \{\n(.*?)^\}/ms.exec(declarations)[1];

test("the types declare the values that are exported, and no others", () => {
  const declared = Array.from(declarations.matchAll(/^export (?:class|const) (\w+)/gm), (match) => match[1]);
  assert.deepEqual(declared.sort(), Object.keys(api).sort());
});

test("the types declare the methods that the client has, and no others", () => {
  const declared = Array.from(clientBody.matchAll(/^  (?:static |get )?(\w+)[(<]/gm), (match) => match[1]);
  const own = [...Object.getOwnPropertyNames(api.Client.prototype), "start"];
  assert.deepEqual([...new Set(declared)].sort(), own.sort());
});

test("the types declare every error code with its number", () => {
  const table = /ErrorCode: Readonly<\{(.*?)\}>/s.exec(declarations)[1];
  const declared = Array.from(table.matchAll(/^  (\w+): (-?\d+);/gm), ([, name, code]) => [name, Number(code)]);
  assert.deepEqual(declared, Object.entries(api.ErrorCode));
});

test("every declaration of the client is documented", () => {
  const lines = clientBody.split("\n");
  const members = lines.flatMap((line, index) => (/^  (?:static |get |\[)?\w.*[({<]/.test(line) ? [index] : []));
  const undocumented = members.filter((index) => lines[index - 1].trim() !== "*/" && !lines[index - 1].trim().endsWith("*/"));
  const overloads = undocumented.filter((index) => {
    const name = /(\w+)[(<]/.exec(lines[index])[1];
    return !members.some((other) => other < index && /(\w+)[(<]/.exec(lines[other])?.[1] === name);
  });
  assert.deepEqual(overloads.map((index) => lines[index]), []);
});
