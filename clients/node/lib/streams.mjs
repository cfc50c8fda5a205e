import { createReadStream as openFile } from "node:fs";
import { Readable } from "node:stream";

/** The bytes of an image as a stream: those that came with the answer, else those of its file. Its words are in `index.d.ts`. */
export function createReadStream({ data, path, uri }) {
  if (data) return Readable.from([data], { objectMode: false });
  if (path) return openFile(path);
  if (uri?.startsWith("file://")) return openFile(bytesOf(uri.slice("file://".length)));
  throw new TypeError('This image has neither a file nor bytes: ask for it with `as: "data"`.');
}

/** A path as bytes: one that is not valid UTF-8 comes as a URI only. */
function bytesOf(encoded) {
  const text = encoded.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(text, "latin1");
}
