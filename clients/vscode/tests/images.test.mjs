import assert from "node:assert/strict";
import { test } from "node:test";
import { document, Position, requireExtension } from "./support/vscode.mjs";

const { definition, imageAt, imagesIn, remoteURL } = requireExtension("./lib/images.js");
const { describe, formatBytes, shownSize } = requireExtension("./lib/hover.js");

const references = (line, lookup) => imagesIn(line, lookup).map((image) => image.reference);

test("images are found where Markdown and HTML name them", () => {
  for (const [line, expected] of [
    ["![a cat](https://e.org/cat.png)", ["https://e.org/cat.png"]],
    ['![cat](cat.png "A (nice) title") ![](b.png)', ["cat.png", "b.png"]],
    ["![cat](<my cat.png>)", ["my cat.png"]],
    ["![x](https://e.org/Cat_(animal).png)", ["https://e.org/Cat_(animal).png"]],
    ["[![badge](badge.svg)](https://e.org/page)", ["badge.svg"]],
    ["![a [nested] label](x.png)", ["x.png"]],
    ["![a](b\\_c.png)", ["b_c.png"]],
    ['<img alt="x" src="https://e.org/a.png?x=1&amp;y=2">', ["https://e.org/a.png?x=1&y=2"]],
    ["<IMG SRC='a.gif'> <img src=b.webp>", ["a.gif", "b.webp"]],
    ['![x <img src="a.png">](b.png)', ["b.png"]],
    ['<img data-src="later.png" src="now.png">', ["now.png"]],
    ["![a](https://e.org/?x=1&amp;y=2)", ["https://e.org/?x=1&y=2"]],
    ["[a link](https://e.org/page)", []],
    ["![", []],
    ["![](", []],
    ["![]()", []],
    ["<img src=>", []],
    ["<img alt=a>src='b.png'", []],
    ["<img alt=a <img src = 'b.png' src=c.png>", ["b.png"]],
  ]) {
    assert.deepEqual(references(line), expected, line);
  }
});

test("labels are looked up in the document", () => {
  const text = "![A Cat][]\n\n[a  cat]: <https://e.org/cat.png> 'title'\n  [dog]: dog.png?x=1&amp;y\\_2\n";
  assert.equal(definition(text, "A Cat"), "https://e.org/cat.png");
  assert.equal(definition(text, "dog"), "dog.png?x=1&y_2");
  assert.equal(definition(text, "bird"), undefined);
  assert.deepEqual(references("![x][dog] ![dog] ![bird]", (label) => definition(text, label)), ["dog.png?x=1&y_2", "dog.png?x=1&y_2"]);
  assert.equal(imageAt(document(text), new Position(0, 3)).url, "https://e.org/cat.png");
});

test("only remote images are looked at, and only under the cursor", () => {
  assert.equal(remoteURL("//e.org/a.png"), "https://e.org/a.png");
  for (const reference of ["a.png", "/a.png", "file:///a.png", "data:image/png;base64,AA==", "https://"]) {
    assert.equal(remoteURL(reference), undefined, reference);
  }
  const one = document("see ![a](http://e.org/a.png) here");
  assert.deepEqual(imageAt(one, new Position(0, 4)), { url: "http://e.org/a.png", line: 0, start: 4, end: 28 });
  assert.equal(imageAt(one, new Position(0, 2)), undefined);
  assert.equal(imageAt(one, new Position(0, 30)), undefined);
});

test("a long line costs time in proportion to its length", () => {
  for (const part of ["![", "![a](", "![a][", "<img ", "<img src=x ", "<img src ", "![a](b(", "[", "\\"]) {
    assert.deepEqual(references(part.repeat(2000)), [], part);
  }
  assert.deepEqual(references(`<img ${" src=x".repeat(2000)}`), []);
});

test("what VS Code does not show of a line is not looked at", () => {
  const [near, far] = ["![](near.png) ", " ![](far.png)"];
  assert.deepEqual(references(`${near}![](data:image/png;base64,${"A".repeat(10_000_000)})${far}`), ["near.png"]);
  assert.deepEqual(references(near + "a".repeat(9000) + far), ["near.png", "far.png"]);
});

test("images are described and scaled", () => {
  const image = { format: "gif", width: 1200, height: 900, byteCount: 12583, frameCount: 12, cacheType: "disk", stale: true };
  assert.equal(describe(image), "GIF · 1200 × 900 · 12.3 KiB · 12 frames · from disk · stale");
  assert.deepEqual(shownSize(image, 400), { width: 400, height: 300 });
  assert.deepEqual(shownSize({ width: 10, height: 5000 }, 400), { width: 1, height: 400 });
  assert.deepEqual(shownSize({ width: 16, height: 16 }, 400), { width: 16, height: 16 });
  assert.deepEqual(shownSize({ width: 800, height: 400, displayWidth: 400, displayHeight: 800 }, 400), { width: 200, height: 400 });
  assert.equal(formatBytes(1023), "1023 B");
  assert.equal(formatBytes(5 * 1024 ** 3), "5.0 GiB");
});
