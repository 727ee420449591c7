import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fencesOf, root } from "./fences.ts";
import { codeIn, commandErrors, eventReasons, eventTexts, isSaid, logLines, rowsOf } from "./reported.ts";

describe("docs/events.md", () => {
  const rows = rowsOf("docs/events.md").filter(([first]) => codeIn(first).length > 0);

  it("has exactly the reasons of Events", () => {
    // This reason is only a warning of the webhook.
    const reasons = [...eventReasons()].filter((reason) => reason !== "ConfigurationMissing");
    expect([...new Set(rows.flatMap(([reason]) => codeIn(reason)))].sort()).toEqual(reasons.sort());
  });

  it("has the texts of Wave", () => {
    for (const text of rows.flatMap(([, text]) => codeIn(text))) expect(isSaid(text), text).toBe(true);
  });

  it("has every text of an Event, possibly shortened", () => {
    const shown = rows.flatMap(([reason, text]) =>
      codeIn(reason).flatMap((named) => codeIn(text).map((code) => `${named}: ${code}`)),
    );
    const patterns = shown.map((line) => new RegExp(`^${line.split("…").map(RegExp.escape).join(".*")}$`, "s"));
    const texts = eventTexts().filter(({ text }) => /\w{3,} \w{2,}/.test(text));
    expect(texts.length).toBeGreaterThan(10);
    for (const { reason, text } of texts.filter(({ reason }) => reason !== "ConfigurationMissing"))
      expect(
        patterns.some((pattern) => pattern.test(`${reason}: ${text}`)),
        `${reason}: ${text}`,
      ).toBe(true);
  });
});

describe("docs/errors.md", () => {
  const rows = rowsOf("docs/errors.md").filter(([first]) => codeIn(first).length > 0);
  const texts = rows.flatMap(([text]) => codeIn(text));

  it("has every log message with level warning or error", () => {
    for (const line of logLines()) expect(texts, line).toContain(line);
  });

  it("has every error that ends a command", () => {
    // Texts that are completely variable are listed by their parts elsewhere.
    for (const line of commandErrors().filter((line) => /\w{3,} \w{2,}/.test(line)))
      expect(texts, line).toContain(line);
  });

  it("has the texts of Wave", () => {
    for (const text of texts) expect(isSaid(text), text).toBe(true);
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
