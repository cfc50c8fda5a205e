import { once } from "node:events";
import { createServer } from "node:http";

/** A promise that a test opens by hand. */
export class Gate {
  opened = new Promise((resolve) => {
    this.open = resolve;
  });
}

/**
 * Starts an HTTP server on loopback that ends with the test `t`. `routes` maps a path to bytes, which are answered as a
 * PNG, or to a handler `(request, response)`.
 */
export async function startHTTP(t, routes) {
  const counts = new Map();
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const route = routes[path];
    if (typeof route === "function") route(request, response);
    else if (route) response.writeHead(200, { "Content-Type": "image/png" }).end(route);
    else response.writeHead(404, { "Content-Type": "text/plain" }).end("There is nothing here.");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${server.address().port}`;
  return { base, url: (path) => base + path, count: (path) => counts.get(path) ?? 0 };
}

/** A route that says when it was asked, when its caller left, and answers `body` when the test opens its gate. */
export function heldRoute(body) {
  const asked = new Gate();
  const left = new Gate();
  const gate = new Gate();
  const route = async (request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) left.open();
    });
    asked.open();
    await gate.opened;
    response.writeHead(200, { "Content-Type": "image/png", "Content-Length": body.length }).end(body);
  };
  return Object.assign(route, { asked: asked.opened, left: left.opened, open: () => gate.open() });
}
