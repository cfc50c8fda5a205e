import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { BinaryNotFoundError } from "./errors.mjs";

/**
 * Finds the `halcyon` executable: the option, which errors call `origin`, then `HALCYON_BIN`, then `PATH`.
 *
 * The first of the three that is given decides: a wrong option is an error, not a reason to look further.
 */
export function findBinary(option, env, origin = "the option `binary`") {
  if (option !== undefined) return resolveNamed(toPath(option), origin, env);
  if (env.HALCYON_BIN) return resolveNamed(env.HALCYON_BIN, "the environment variable HALCYON_BIN", env);
  const found = searchPath("halcyon", env);
  if (found !== undefined) return found;
  throw new BinaryNotFoundError(
    "Cannot find the executable `halcyon`: it is in no folder of PATH. " +
      `Give its path as ${origin}, or set HALCYON_BIN.`,
    pathFolders(env).map((folder) => path.join(folder, "halcyon")),
  );
}

function resolveNamed(name, origin, env) {
  if (!name.includes("/")) {
    const found = searchPath(name, env);
    if (found !== undefined) return found;
    throw new BinaryNotFoundError(
      `Cannot find the executable ${JSON.stringify(name)}, named by ${origin}: ` +
        "it is in no folder of PATH. Give its full path.",
      pathFolders(env).map((folder) => path.join(folder, name)),
    );
  }
  const file = path.resolve(name);
  if (isExecutable(file)) return file;
  throw new BinaryNotFoundError(
    `Cannot run ${JSON.stringify(file)}, named by ${origin}: there is no executable file there.`,
    [file],
  );
}

function searchPath(name, env) {
  return pathFolders(env)
    .map((folder) => path.resolve(folder, name))
    .find(isExecutable);
}

function pathFolders(env) {
  return (env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Turns a path or a `file:` URL into an absolute path. */
export function toPath(value) {
  return value instanceof URL ? fileURLToPath(value) : value;
}
