"use strict";

const patterns = [
  // ![alt](destination "title"), with one level of brackets in both parts.
  { kind: "inline", pattern: /!\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))+))(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/g },
  // ![alt][label], ![label][] and ![label]
  { kind: "label", pattern: /!\[((?:[^\[\]\\]|\\.)*)\](?:\[([^\[\]]*)\])?(?![(\[])/g },
  { kind: "html", pattern: /<img\s[^<>]*>/gi },
];
const source = /\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;

/** How many characters of a line VS Code shows by default: no cursor is over the rest. */
const shownCharacters = 10_000;

/**
 * The images that a line of Markdown names: `{reference, start, end}`, places in the line. `lookup(label)` gives what a
 * label stands for.
 */
function imagesIn(text, lookup = () => undefined) {
  const line = text.slice(0, shownCharacters);
  const found = [];
  for (const { kind, pattern } of patterns) {
    for (const match of line.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].length];
      if (found.some((other) => other.start < end && start < other.end)) continue;
      const reference = referenceOf(kind, match, lookup);
      if (reference) found.push({ reference, start, end });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

function referenceOf(kind, match, lookup) {
  if (kind === "inline") return destination(match[2] ?? match[3]);
  if (kind === "label") return lookup(match[2] || match[1]);
  const value = source.exec(match[0]);
  return value && unescaped(value[1] ?? value[2] ?? value[3]);
}

/** What stands for an address in Markdown, without what protects its characters. */
function destination(text) {
  return unescaped(text.replace(/\\([!-/:-@[-`{-~])/g, "$1"));
}

function unescaped(text) {
  const characters = { amp: "&", quot: '"', lt: "<", gt: ">", "#39": "'" };
  return text.replace(/&(amp|quot|lt|gt|#39);/g, (_, name) => characters[name]);
}

/** The definition of a Markdown label in a text; undefined when the text does not define it. */
function definition(text, label) {
  const wanted = normal(label);
  for (const match of text.matchAll(/^ {0,3}\[([^\[\]]+)\]:\s*(?:<([^<>\n]*)>|(\S+))/gm)) {
    if (normal(match[1]) === wanted) return destination(match[2] ?? match[3]);
  }
  return undefined;
}

function normal(label) {
  return label.trim().toLowerCase().replace(/\s+/g, " ");
}

/** The URL of a reference to a remote image; undefined for what is not remote. */
function remoteURL(reference) {
  const text = reference.startsWith("//") ? `https:${reference}` : reference;
  return /^https?:\/\/[^/]/i.test(text) ? text : undefined;
}

/** The remote image at a place of a document, with the range that names it; undefined when there is none. */
function imageAt(document, position) {
  const line = document.lineAt(position.line).text;
  const images = imagesIn(line, (label) => definition(document.getText(), label));
  const image = images.find(({ start, end }) => start <= position.character && position.character <= end);
  const url = image && remoteURL(image.reference);
  return url && { url, line: position.line, start: image.start, end: image.end };
}

module.exports = { definition, imageAt, imagesIn, remoteURL };
