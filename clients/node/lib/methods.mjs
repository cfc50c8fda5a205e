// Made by clients/generate.py from protocol/openrpc.json.
import { listOf, located, named, stored, withBytes } from "./requests.mjs";

/** How many requests are sent in one write: `client[sendMany](method, requests, options, convert)`. */
export const sendMany = Symbol("sendMany");

/** The methods of the protocol, over `call` and `sendMany`. Their types and words are in `types/methods.d.ts`. */
export class Methods {
  async retrieve(request, options) {
    return withBytes(await this.call("retrieve", named("url", request), options));
  }

  async store(request, options) {
    return withBytes(await this.call("store", stored(request), options));
  }

  async remove(request, options) {
    return this.call("remove", named("key", request), options);
  }

  async isCached(request, options) {
    return this.call("isCached", named("key", request), options);
  }

  async cachePath(request, options) {
    return this.call("cachePath", named("key", request), options);
  }

  async calculateSize(request, options) {
    return this.call("calculateSize", request, options);
  }

  async download(request, options) {
    return withBytes(await this.call("download", named("url", request), options));
  }

  async probe(request, options) {
    return this.call("probe", named("url", request), options);
  }

  async prefetch(request, options) {
    return this.call("prefetch", request, options);
  }

  async cancelAll(request, options) {
    return (await this.call("cancelAll", named("url", request), options)).cancelled;
  }

  async pause(what, options) {
    return this.call("pause", { what }, options);
  }

  async resume(options) {
    return this.call("resume", undefined, options);
  }

  async clear(request, options) {
    return this.call("clear", request, options);
  }

  async clearMemory(request, options) {
    return this.call("clearMemory", request, options);
  }

  async clearDisk(request, options) {
    return this.call("clearDisk", request, options);
  }

  async forgetFailures(request, options) {
    return (await this.call("forgetFailures", named("url", request), options)).forgotten;
  }

  async listFailures(request, options) {
    return (await this.call("listFailures", request, options)).failures;
  }

  async stats(options) {
    return this.call("stats", undefined, options);
  }

  async checkRemote(options) {
    return this.call("checkRemote", undefined, options);
  }

  async inspect(request, options) {
    return this.call("inspect", named("key", request), options);
  }

  async *listEntries(request = {}, options) {
    const { pageSize, ...filters } = request;
    let cursor;
    do {
      const page = await this.call("list", { ...filters, limit: pageSize, cursor }, options);
      yield* page.entries;
      cursor = page.cursor;
    } while (cursor !== null && cursor !== undefined);
  }

  async explain(request, options) {
    return this.call("explain", named("url", request), options);
  }

  async cleanExpired(request, options) {
    return this.call("cleanExpired", request, options);
  }

  async verify(request, options) {
    return this.call("verify", request, options);
  }

  async configure(request, options) {
    return this.call("configure", request, options);
  }

  async addReadOnlyCachePath(request, options) {
    return this.call("addReadOnlyCachePath", located(request), options);
  }

  async caches(options) {
    return (await this.call("caches", undefined, options)).caches;
  }

  async ping(options) {
    return this.call("ping", undefined, options);
  }

  async discover(options) {
    return this.call("rpc.discover", undefined, options);
  }

  async retrieveMany(requests, options) {
    return this[sendMany]("retrieve", listOf("url", requests), options, withBytes);
  }

  async isCachedMany(requests, options) {
    return this[sendMany]("isCached", listOf("key", requests), options);
  }

  async cachePathMany(requests, options) {
    return this[sendMany]("cachePath", listOf("key", requests), options);
  }
}
