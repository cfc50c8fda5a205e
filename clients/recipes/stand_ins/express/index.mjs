// The few functions of Express that the cookbook uses, on Node's own web server: routes with one name in their path,
// `set`, `type`, `sendFile`, `sendStatus`. `listen` prints the port.
import { createReadStream } from "node:fs";
import { createServer, ServerResponse } from "node:http";

class Response extends ServerResponse {
  set(name, value) {
    this.setHeader(name, value);
    return this;
  }

  type(type) {
    return this.set("Content-Type", type);
  }

  sendFile(path) {
    createReadStream(path).pipe(this);
  }

  sendStatus(status) {
    this.statusCode = status;
    this.end();
  }
}

export default function express() {
  const routes = new Map();
  return {
    get: (path, handler) => routes.set(path.split(":")[0], handler),
    listen(port) {
      const server = createServer({ ServerResponse: Response }, (request, response) => {
        const [, folder, name] = request.url.match(/^(.*\/)([^/]*)$/);
        request.params = { name: decodeURIComponent(name) };
        routes.get(folder)(request, response);
      });
      server.listen(port, "127.0.0.1", () => console.log(server.address().port));
    },
  };
}
