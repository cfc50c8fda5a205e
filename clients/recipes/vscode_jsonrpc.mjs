// The library of VS Code's language clients (npm: vscode-jsonrpc 9): Content-Length frames.
// Usage: node vscode_jsonrpc.mjs URL…
import { spawn } from "node:child_process";
import rpc from "vscode-jsonrpc/node";

const server = spawn(process.env.HALCYON_BIN ?? "halcyon", { stdio: ["pipe", "pipe", "inherit"] });
const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(server.stdout),
  new rpc.StreamMessageWriter(server.stdin),
);
connection.listen();

for (const url of process.argv.slice(2)) {
  try {
    // A cancellation token may follow the params: the library sends $/cancelRequest.
    const image = await connection.sendRequest("retrieve", { url });
    console.log(image.width, image.height, image.cacheType, image.path);
  } catch (error) {
    console.log("error", error.data.name);
  }
}
connection.end();
server.stdin.end();
