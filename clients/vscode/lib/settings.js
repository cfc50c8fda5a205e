"use strict";

/** The settings that are flags of the server, by their names in both places. */
const flags = {
  cacheDir: "--cache-dir",
  memoryLimit: "--memory-limit",
  diskLimit: "--disk-limit",
  timeout: "--timeout",
  networkPolicy: "--network-policy",
  allowedHosts: "--allowed-hosts",
  proxy: "--proxy",
  offline: "--offline",
  logLevel: "--log-level",
};

/** The settings that need another server when they change. */
const serverSettings = ["binary", ...Object.keys(flags)];

/**
 * The arguments for the server. `get(name)` gives the value of a setting of the section `halcyon`; what is empty, null or
 * false is left to the server's own configuration.
 */
function serverArguments(get) {
  const list = [];
  for (const [name, flag] of Object.entries(flags)) {
    const value = get(name);
    if (value === true) list.push(flag);
    else if (Array.isArray(value) && value.length > 0) list.push(flag, value.join(","));
    else if (typeof value === "number" || (typeof value === "string" && value !== "")) list.push(flag, String(value));
  }
  return list;
}

module.exports = { flags, serverArguments, serverSettings };
