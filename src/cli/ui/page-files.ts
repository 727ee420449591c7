import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { CommandFailure } from "../command/command-failure.ts";
import { commandErrorTexts } from "../command/error-texts.ts";
import type { PageFile } from "./page-server.ts";

/** The files of the page, by their names below the token. "" is the page itself. */
const files = [
  { name: "", file: "page.html", type: "text/html; charset=utf-8" },
  { name: "page.js", file: "page.js", type: "text/javascript; charset=utf-8" },
  { name: "page.css", file: "page.css", type: "text/css; charset=utf-8" },
] as const;

/** Where the files are: beside the bundle. If Wave runs from its sources: where the bundle would be. */
const folders = [new URL("./", import.meta.url), new URL("../../../dist/", import.meta.url)];

/** Reads the page. Throws a CommandFailure if it was not built. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  for (const folder of folders) {
    if (!existsSync(new URL(files[0].file, folder))) continue;
    const read = files.map(async ({ name, file, type }) => {
      return [name, { type, body: await readFile(new URL(file, folder)) }] as const;
    });
    return new Map(await Promise.all(read));
  }
  throw new CommandFailure(commandErrorTexts.noPage);
}
