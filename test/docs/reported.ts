import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./fences.ts";

/** The sources of Wave without files for tests, each without its comments. */
const sources = globSync("src/**/*.ts", { cwd: root })
  .filter((path) => !/\.test\.ts$|\/(test|fake|scripted)-[^/]*$|^src\/sandbox\//.test(path))
  .map((path) => readFileSync(join(root, path), "utf8").replace(/^\s*(\/?\*|\/\/).*$/gm, ""));

/** All sources of Wave as one text, in which line breaks and joined literals are no borders. */
const said = sources.join("\n").replace(/["`]\s*\+\s*["`]/g, "");

/** Reports whether Wave has a text: each part of it between its `…` is in the sources, and between the same quotes. */
export function isSaid(text: string): boolean {
  return text
    .split("…")
    .map((part) => part.trim())
    .filter((part) => part.length > 1)
    .every((part) => said.includes(part) || said.includes(part.replaceAll('"', '\\"')));
}

/** Returns the reasons of all Events in the sources. */
export function eventReasons(): ReadonlySet<string> {
  return new Set([...said.matchAll(/\breason: "([A-Z]\w+)"/g)].map(([, reason]) => reason ?? ""));
}

/**
 * Returns the texts of Events that the sources have next to the reason, or as the `message` before it. A part that
 * varies is `…`.
 */
export function eventTexts(): readonly { readonly reason: string; readonly text: string }[] {
  const beside = said.matchAll(/\breason: "([A-Z]\w+)",\s*message:\s*(?=["`])/g);
  const before = said.matchAll(/\bconst message = (?=["`])(?=[^;]*;[^=]{0,60}?\breason: "([A-Z]\w+)", message\b)/g);
  return [...beside, ...before].map(({ 0: made, 1: reason = "", index }) => ({
    reason,
    text: literalAt(index + made.length),
  }));
}

/** Returns the messages of log lines with level `warn` or `error` that are literals in the call. A part that varies is `…`. */
export function logLines(): readonly string[] {
  return [...said.matchAll(/\blog(?:\.(?:warn|error)|\[[^\]]*\])\(\s*(?:"([^"]+)"|`([^`]+)`)/g)]
    .map(([, plain, template]) => plain ?? template?.replace(/\$\{[^}]*\}+/g, "…") ?? "")
    .filter((line) => line.replaceAll("…", "").trim().length > 3);
}

/** Returns the errors that end commands and the start of `wave run`, if they are literals in the call. A part that varies is `…`. */
export function commandErrors(): readonly string[] {
  const made = said.matchAll(/\bnew (?:UsageError|CommandFailure|ClusterConfigError)\(\s*(?=["`])/g);
  return [...made].map(({ 0: made, index }) => literalAt(index + made.length));
}

/** Returns the literal that begins at an index of the sources. */
function literalAt(index: number): string {
  const quote = said[index];
  let [text, depth] = ["", 0];
  for (let at = index + 1; depth > 0 || said[at] !== quote; at++) {
    if (said.startsWith("${", at) && depth++ === 0) text += "…";
    else if (said[at] === "{" && said[at - 1] !== "$" && depth > 0) depth++;
    else if (said[at] === "}" && depth > 0) depth--;
    else if (depth === 0) text += said[at] === "\\" ? "" : said[at];
  }
  return text;
}

/** Returns the rows of the tables of a page, as cells without their marks. */
export function rowsOf(page: string): readonly (readonly string[])[] {
  return readFileSync(join(root, page), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("|---"))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("\\|", "|")),
    );
}

/** Returns the text of a cell between marks of code. */
export function codeIn(cell: string | undefined): readonly string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? "");
}
