import { isDeepStrictEqual } from "node:util";

const special = new Set(["$any", "$type", "$regex", "$absent", "$length"]);

/** Says where `value` does not match `pattern`, as a sentence; undefined when it does. */
export function mismatch(value, pattern, place = "the message") {
  if (isObject(pattern)) {
    const [key] = Object.keys(pattern);
    if (special.has(key)) return specialMismatch(value, key, pattern[key], place);
    if (!isObject(value)) return differs(place, "an object", value);
    for (const [name, inner] of Object.entries(pattern)) {
      const found = memberMismatch(value, name, inner, `${place}.${name}`);
      if (found) return found;
    }
    return undefined;
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value)) return differs(place, "an array", value);
    if (value.length !== pattern.length) return differs(place, `${pattern.length} elements`, value);
    return pattern.map((inner, index) => mismatch(value[index], inner, `${place}[${index}]`)).find(Boolean);
  }
  return isDeepStrictEqual(value, pattern) ? undefined : differs(place, JSON.stringify(pattern), value);
}

function memberMismatch(object, name, pattern, place) {
  const isThere = Object.hasOwn(object, name);
  if (isObject(pattern) && pattern.$absent === true) return isThere ? differs(place, "nothing", object[name]) : undefined;
  return isThere ? mismatch(object[name], pattern, place) : `${place} is missing.`;
}

function specialMismatch(value, key, argument, place) {
  switch (key) {
    case "$any":
      return undefined;
    case "$type":
      return hasType(value, argument) ? undefined : differs(place, `of type ${argument}`, value);
    case "$regex":
      if (typeof value === "string" && new RegExp(argument, "u").test(value)) return undefined;
      return differs(place, `a string that matches ${argument}`, value);
    case "$length":
      return value?.length === argument ? undefined : differs(place, `of length ${argument}`, value);
    default:
      return differs(place, "nothing", value);
  }
}

function hasType(value, type) {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  if (!["string", "number", "boolean"].includes(type)) throw new Error(`There is no type ${JSON.stringify(type)}.`);
  return typeof value === type;
}

function differs(place, expected, value) {
  return `${place} should be ${expected}, and is ${JSON.stringify(value)?.slice(0, 500)}.`;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
