import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { repository } from "../../lib/project-address.ts";
import { flagsWithoutEffect } from "../flags/compatibility-flags.ts";
import { bool, text } from "../flags/flag-types.ts";
import { runFlags } from "../flags/run-flags.ts";
import { runHelp } from "../run/run.ts";
import { version } from "./command.ts";
import { docsAddress, docsPages, renderHelp } from "./help.ts";

describe("renderHelp", () => {
  const help = {
    usage: "wave x [flags]",
    description: "Do x.",
    examples: [
      ["wave x --to-file=a", "write to a file"],
      ["wave x --quiet", "without output"],
      ["wave x --a-name-that-is-longer-than-its-column=a --to-file=file-with-a-long-name", "both"],
    ] as const,
    usualFlags: ["to-file", "quiet"],
    details: ["A detail."],
    exits: { 0: "Success." },
  };
  const table = {
    "to-file": text({ group: "Output", placeholder: "FILE", help: "Output file. Created if missing.", short: "o" }),
    quiet: bool({ group: "Output", default: true, help: "Write nothing." }),
    "a-name-that-is-longer-than-its-column": text({ group: "Other", placeholder: "X", help: "Long." }),
  };

  it("shows description, usage, two examples and the usual flags", () => {
    expect(renderHelp(help, table, "usual")).toBe(
      [
        "Do x.",
        "",
        "Usage: wave x [flags]",
        "",
        "Examples:",
        "  wave x --to-file=a  # write to a file",
        "  wave x --quiet      # without output",
        "",
        "Flags:",
        "  -o, --to-file FILE  Output file.",
        "      --quiet         Write nothing. (default: true)",
        "",
        "More: wave x --help-all (all flags, exit codes)",
        "",
      ].join("\n"),
    );
  });

  it("shows all examples, flags by group, exit codes and the variable of a flag with --help-all", () => {
    expect(renderHelp(help, table, "all")).toBe(
      [
        "Do x.",
        "",
        "Usage: wave x [flags]",
        "",
        "Examples:",
        "  wave x --to-file=a  # write to a file",
        "  wave x --quiet      # without output",
        "  # both",
        "  wave x --a-name-that-is-longer-than-its-column=a --to-file=file-with-a-long-name",
        "",
        "A detail.",
        "",
        "Output:",
        "  -o, --to-file FILE  Output file. Created if missing.",
        "      --quiet         Write nothing. (default: true)",
        "",
        "Other:",
        "      --a-name-that-is-longer-than-its-column X",
        "        Long.",
        "",
        "Exit codes:",
        "  0     Success.",
        "",
        "Each flag has an environment variable: WAVE_TO_FILE for --to-file. A flag",
        "overrides its variable.",
        "",
      ].join("\n"),
    );
  });
});

describe("wave run --help-all", () => {
  it("shows every flag once, in lines of at most 80 columns except one example", () => {
    const lines = renderHelp(runHelp, runFlags, "all").split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([
      "  wave run --enable-webhooks --webhook-bind-address=127.0.0.1:9443 --webhook-url=https://127.0.0.1:9443",
    ]);
    const listed = lines.flatMap((line) => /^ {2}(?: {4}|-[a-z], )--([A-Za-z-]+)/.exec(line)?.[1] ?? []);
    const withEffect = Object.keys(runFlags).filter((name) => !Object.hasOwn(flagsWithoutEffect, name));
    expect(listed.sort()).toEqual(withEffect.sort());
    for (const name of Object.keys(flagsWithoutEffect)) expect(lines.join(" ")).toContain(`--${name}`);
  });
});

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
