import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { repository } from "../../lib/project-address.ts";
import { docsAddress, docsPages } from "./docs-pages.ts";
import { version } from "./version.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Returns the sources of Wave without comments, by path. */
function sources(folder = "src/"): readonly (readonly [path: string, text: string])[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => [path, read(folder + path).replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "")]);
}

describe("the pages of the docs", () => {
  it("are all known, and have the address of the repository if there is one", () => {
    const pages = readdirSync(new URL("docs", root)).flatMap((name) => /^(?!index)(.*)\.md$/.exec(name)?.[1] ?? []);
    expect(Object.keys(docsPages).sort()).toEqual(pages.sort());
    const blob = repository === undefined ? "" : `${repository}/blob/v${version()}/`;
    expect(docsAddress("kinds")).toBe(`${blob}docs/kinds.md`);
  });

  it("have the headings to which a command leads", () => {
    for (const [path, text] of sources())
      for (const [, page, heading = ""] of text.matchAll(/docsAddress\("([^"]+)", "([^"]+)"\)/g)) {
        const slugs = [...read(`docs/${page}.md`).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
          title
            .toLowerCase()
            .replaceAll(/[^\w -]/g, "")
            .replaceAll(" ", "-"),
        );
        expect({ path, page, slugs }).toMatchObject({ slugs: expect.arrayContaining([heading]) });
      }
  });

  it("are named by an address, because a person who has the program does not have its files", () => {
    const named = sources().filter(([, text]) => /(?<!\/)\b(docs|contributing)\/[\w./-]+\.md/.test(text));
    expect(named.map(([path]) => path)).toEqual([]);
  });

  it("are topics of wave help, in at most 80 columns", async () => {
    const { out } = await runWave(["help", "docs"]);
    for (const [page, about] of Object.entries(docsPages)) {
      expect(out.replaceAll(/\n +/g, " ")).toContain(`${page} `);
      expect((await runWave(["help", page])).out).toBe(`${about}\n${docsAddress(page as keyof typeof docsPages)}\n`);
    }
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });
});
