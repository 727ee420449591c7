import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fencesOf, root } from "./fences.ts";
import { codeIn, commandErrors, eventReasons, eventTexts, isSaid, logLines, rowsOf } from "./reported.ts";

describe("docs/events.md", () => {
  const rows = rowsOf("docs/events.md").filter(([first]) => /^`[A-Z]\w+`$/.test(first ?? ""));

  it("has exactly the reasons of Events", () => {
    // Two reasons are only warnings of the webhook, and one is of a Status of the API server.
    const others = ["ConfigurationMissing", "AnnotationsKept", "NotFound"];
    const reasons = [...eventReasons()].filter((reason) => !others.includes(reason));
    expect([...new Set(rows.flatMap(([reason]) => codeIn(reason)))].sort()).toEqual(reasons.sort());
  });

  it("has every text of an Event, possibly shortened", () => {
    const shown = rows.flatMap(([reason, text]) =>
      codeIn(reason).flatMap((named) => codeIn(text).map((code) => `${named}: ${code}`)),
    );
    const texts = eventTexts().filter(({ text }) => /\w{3,} \w{2,}/.test(text));
    expect(texts.length).toBeGreaterThan(0);
    // A text of the sources may have fewer constant parts than the row, or more.
    const covers = (pattern: string, line: string) =>
      new RegExp(`^${pattern.split("…").map(RegExp.escape).join(".*")}$`, "s").test(line);
    for (const { reason, text } of texts.filter(({ reason }) => reason !== "ConfigurationMissing")) {
      const line = `${reason}: ${text}`;
      expect(
        shown.some((row) => covers(row, line) || covers(line, row)),
        line,
      ).toBe(true);
    }
  });
});

/** The table of each text is in the sources, and test/deploy/generated.test.ts compares docs/events.md with these tables. */
describe("docs/events.md", () => {
  it("has every log message with level warning or error, because each is in a table", () => {
    expect(logLines()).toEqual([]);
  });

  it("has every error that ends a command, because each is in a table", () => {
    // Texts that are completely variable are listed by their parts.
    expect(commandErrors().filter((line) => /\w{3,} \w{2,}/.test(line))).toEqual([]);
  });
});

describe("docs/troubleshooting.md", () => {
  it("has the texts of Wave", () => {
    for (const text of rowsOf("docs/troubleshooting.md")
      .flatMap(([symptom]) => codeIn(symptom))
      .filter((code) => code.includes(" ")))
      expect(isSaid(text), text).toBe(true);
  });
});

describe("docs/alerts.md", () => {
  it("has every alert in its overview, with its severity", () => {
    const rules = readFileSync(join(root, "deploy/chart/files/alerts.yaml"), "utf8");
    const alerts = [...rules.matchAll(/- alert: (\w+)[\s\S]*?severity: (\w+)/g)].map(([, name, severity]) => [
      name,
      severity,
    ]);
    const rows = rowsOf("docs/alerts.md").filter(([name]) => name?.includes("](#"));
    expect(rows.map(([name, severity]) => [name?.match(/\w+/)?.[0], severity])).toEqual(alerts);
  });

  it("searches the log only for messages of Wave", () => {
    const looked = fencesOf("docs/alerts.md").flatMap(({ text }) => [...text.matchAll(/\| grep "([^"]+)"/g)]);
    expect(looked.length).toBeGreaterThan(3);
    for (const text of looked.flatMap(([, texts = ""]) => texts.split("\\|"))) expect(isSaid(text), text).toBe(true);
  });
});
