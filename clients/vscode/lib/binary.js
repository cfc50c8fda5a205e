"use strict";

const { accessSync, constants, statSync } = require("node:fs");
const path = require("node:path");
const { HalcyonError } = require("./errors.js");

/** Finds the executable: the setting, then `HALCYON_BIN`, then `PATH`; the first that is given decides. */
function findBinary(setting, env) {
  if (setting) return named(setting, "the setting halcyon.binary", env);
  if (env.HALCYON_BIN) return named(env.HALCYON_BIN, "the environment variable HALCYON_BIN", env);
  const found = search("halcyon", env);
  if (found) return found;
  throw notFound("Cannot find the executable `halcyon`: it is in no folder of PATH. Give its path as the setting halcyon.binary, or set HALCYON_BIN.");
}

function named(name, origin, env) {
  if (!name.includes("/")) {
    const found = search(name, env);
    if (found) return found;
    throw notFound(`Cannot find the executable ${JSON.stringify(name)}, named by ${origin}: it is in no folder of PATH. Give its full path.`);
  }
  const file = path.resolve(name.replace(/^~(?=\/)/, env.HOME ?? "~"));
  if (isExecutable(file)) return file;
  throw notFound(`Cannot run ${JSON.stringify(file)}, named by ${origin}: there is no executable file there.`);
}

function search(name, env) {
  const folders = (env.PATH ?? "").split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.resolve(folder, name)).find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function notFound(message) {
  return new HalcyonError("binaryNotFound", message);
}

module.exports = { findBinary };
