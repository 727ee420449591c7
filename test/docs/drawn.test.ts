import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { workloadStateNames } from "../../src/cli/cluster/states/state-rows.ts";
import { commands } from "../../src/cli/commands.ts";
import { runFlags } from "../../src/cli/flags/run-flags.ts";
import { eventTexts } from "../../src/controllers/rollout/report/event-texts.ts";
import { holdRows } from "../../src/domain/pacing/holds.ts";
import { annotationPrefix } from "../../src/domain/references/annotations.ts";
import { outcomes } from "../../src/notify/notification/notification.ts";
import { root } from "./fences.ts";
import { isSaid } from "./reported.ts";

const pictures = globSync("docs/pictures/*.svg", { cwd: root })
  .sort()
  .map((path) => ({ name: basename(path, ".svg"), source: readFileSync(join(root, path), "utf8") }));
/**
 * The pictures that a person has drawn. The others are recordings of terminals, which recordings.test.ts compares with a run, and pictures of
 * the dashboard, which dashboard.test.ts compares with the chart.
 */
const drawn = pictures
  .filter(({ source }) => !/class="(screen|panel)"/.test(source))
  .map(({ name, source }) => ({ name, text: textOf(source) }));

/** Returns the texts of a picture in one line. */
function textOf(source: string): string {
  const texts = source.matchAll(/<t(?:ext|span|itle)\b[^>]*>([^<]+)/g);
  return Array.from(texts, ([, text = ""]) => text.trim())
    .join(" ")
    .replaceAll("&quot;", '"');
}

const picture = (name: string) => drawn.find((each) => each.name === name)?.text ?? expect.fail(`no picture ${name}`);

/** Names of Kubernetes, and of objects in the examples. */
const ofOthers = ["ConfigMap", "ConfigMaps", "ReplicaSet", "StatefulSet", "DaemonSet", "OnDelete"];
const examples = ["web-page", "on-call"];

it.for(pictures)(
  "the picture $name keeps its colours and spaces in librsvg, which knows no variables of CSS",
  ({ source }) => {
    expect(source).not.toContain("var(");
    if (source.includes('class="screen"')) expect(source).toMatch(/^<svg [^>]*xml:space="preserve"/);
  },
);

describe.for(drawn)("the drawn picture $name", ({ text }) => {
  it("names flags and commands that exist", () => {
    for (const [, flag = ""] of text.matchAll(/--([a-z]+(?:-[a-z]+)*)/g)) expect(Object.keys(runFlags)).toContain(flag);
    for (const [, command = ""] of text.matchAll(/\bwave ([a-z]+)\b/g))
      expect(Object.keys(commands)).toContain(command);
  });

  it("names reasons of Events and alerts that exist", () => {
    const reasons = Object.values(outcomes).flatMap((each) => each.reasons);
    const rules = readFileSync(join(root, "deploy/chart/files/alerts.yaml"), "utf8");
    const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, alert]) => alert);
    for (const [name] of text.matchAll(/\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b/g))
      expect([...reasons, ...alerts, ...ofOthers]).toContain(name);
  });

  it("names annotations that exist", () => {
    const prose = text.replaceAll(/--[a-z-]+/g, "");
    for (const [name] of prose.matchAll(/\b[a-z]+(?:-[a-z]+)+\b/g))
      if (!examples.includes(name))
        expect(isSaid(`${annotationPrefix}${name}`) || isSaid(`"${name}"`), name).toBe(true);
  });
});

describe("the drawn pictures", () => {
  it("show the defaults of the flags for the timeline of a change", () => {
    const shown = picture("canary");
    expect(shown).toContain(`${runFlags.settle.shownDefault} Settled`.replace("1s", "1 s"));
    expect(shown).toContain(`${runFlags["max-concurrent-rollouts"].shownDefault} at once`);
    expect(shown).toContain("1 min 10 s Still complete");
    expect(runFlags.soak.shownDefault).toMatch(/^10s\b/);
    expect(runFlags["rollout-timeout"].shownDefault).toBe("10m");
    expect(shown).toContain("≤ 10 min");
  });

  it("show holds and states by their names", () => {
    const holds = Object.keys(holdRows);
    for (const hold of ["settling", "window", "approval", "batch"]) {
      expect(holds).toContain(hold);
      expect(picture("way-of-a-change")).toContain(hold);
    }
    for (const [, state] of picture("old-pod").matchAll(/State (\w+)/g)) expect(workloadStateNames).toContain(state);
  });

  it("show the text of the Event about a halted change, in Slack", () => {
    const event = eventTexts.changeHalted("", 'Deployment "api" failed', "you run: wave resume configmap/page -n shop");
    expect(picture("slack")).toContain(`ConfigMap shop/page: ${event}`);
    expect(Object.keys(outcomes)).toContain(/outcome (\w+)/.exec(picture("slack"))?.[1]);
  });
});
