import { describe, expect, it } from "vitest";
import { bool, text } from "../flags/flag-types.ts";
import { runFlags } from "../flags/run-flags.ts";
import { runHelp } from "../run/run-help.ts";
import { renderHelp } from "./help.ts";

describe("renderHelp", () => {
  it("shows usage, examples, and flags by group with value, default and variable", () => {
    const help = renderHelp(
      { usage: "wave x [flags]", summary: "Does x.", examples: [["wave x --to-file=a", "into a file"]] },
      {
        "to-file": text({ group: "Output", placeholder: "FILE", help: "Where to write.", short: "o" }),
        quiet: bool({ group: "Output", default: true, help: "Say nothing." }),
        "a-name-that-is-longer-than-its-column": text({ group: "Other", placeholder: "X", help: "Long." }),
      },
    );
    expect(help).toBe(
      [
        "Usage: wave x [flags]",
        "",
        "Does x.",
        "",
        "Examples",
        "  # into a file",
        "  wave x --to-file=a",
        "",
        "Output",
        "  -o, --to-file FILE              Where to write.",
        "  --quiet                         Say nothing. (default true)",
        "",
        "Other",
        "  --a-name-that-is-longer-than-its-column X",
        "                                  Long.",
        "",
        "An environment variable stands for each flag, WAVE_TO_FILE for --to-file; a flag wins.",
        "",
      ].join("\n"),
    );
  });
});

describe("wave run --help", () => {
  it("tells of every flag, each once, in lines of at most 100 columns", () => {
    const lines = runHelp().split("\n");
    expect(lines.filter((line) => line.length > 100)).toEqual([
      "  wave run --enable-webhooks --webhook-bind-address=127.0.0.1:9443 --webhook-url=https://127.0.0.1:9443",
    ]);
    const listed = lines.flatMap((line) => /^ {2}--([A-Za-z-]+)/.exec(line)?.[1] ?? []);
    expect(listed.sort()).toEqual(Object.keys(runFlags).sort());
  });
});
