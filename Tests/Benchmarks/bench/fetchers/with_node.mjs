// Fetches the URLs of a file with Node's fetch, as many at once as asked; prints the seconds from first to last.
import { readFileSync } from "node:fs";

const urls = readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean);
let next = 0;

async function worker() {
  while (next < urls.length) {
    const response = await fetch(urls[next++]);
    if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
    await response.arrayBuffer();
  }
}

const begin = performance.now();
await Promise.all(Array.from({ length: Number(process.argv[3]) }, worker));
console.log((performance.now() - begin) / 1000);
