import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { logMessages } from "../../src/telemetry/logging/log-messages.ts";
import { chart } from "../deploy/rendered.ts";
import { alertCases, inOrder } from "./alert-cases.ts";
import { missingPrometheus, promtool } from "./promtool.ts";

const file = join(chart, "files/alerts.yaml");
const text = readFileSync(file, "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

describe("each alert", () => {
  it.for(rules)(
    "$alert has a case in which it fires, a case in which it does not, and its entry in docs/alerts.md",
    ({ alert, annotations }) => {
      expect(alertCases[alert]?.quiet.length).toBeGreaterThan(0);
      // "1 workloads" would be wrong, and a file in the repository is no link.
      expect(annotations).toEqual({ summary: expect.not.stringMatching(/\$value( \|[^}]*)? \}\} (?!of )[a-z ]*s\b/) });
      const entry = readFileSync("docs/alerts.md", "utf8")
        .split(/^## /m)
        .find((each) => each.startsWith(`${alert}\n`));
      // The command that shows the cause, and the step that ends the alert.
      expect(entry).toMatch(/^\$ (kubectl|wave) /m);
      expect(entry).toMatch(/^\*\*Ends\*\*/m);
    },
  );

  it("has only filters of the log that find a message of Wave", () => {
    const messages = Object.values(logMessages).map((message) =>
      typeof message === "string" ? message : (message as (...words: readonly string[]) => string)("", ""),
    );
    const filters = globSync("docs/*.md").flatMap((page) =>
      Array.from(
        readFileSync(page, "utf8").matchAll(/logs .*\| grep (-i )?(?:"(.*?)"|(\w+))/g),
        ([, flag, quoted, word]) => ({
          flags: flag === undefined ? "" : "i",
          words: (quoted ?? word ?? "").split("\\|"),
        }),
      ),
    );
    expect(filters.length).toBeGreaterThan(5);
    const dead = filters.flatMap(({ flags, words }) =>
      words.filter((word) => !messages.some((message) => new RegExp(word, flags).test(message))),
    );
    expect(dead).toEqual([]);
  });

  it("with a case exists", () => {
    expect(Object.keys(alertCases).sort()).toEqual(rules.map(({ alert }) => alert).sort());
    const documented = Array.from(
      readFileSync("docs/alerts.md", "utf8").matchAll(/^## (Wave\w+)$/gm),
      ([, name]) => name,
    );
    expect(documented.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });
});

const missing = missingPrometheus();
describe.skipIf(missing !== undefined)(`the alerts, by promtool${missing ? ` (${missing})` : ""}`, () => {
  it("are rules that Prometheus accepts", async () => {
    expect(await promtool(["check", "rules"], "alerts.yaml", text)).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  it.for(rules)("$alert fires in time, with a summary that names its object", async (rule) => {
    const { fires } = alertCases[rule.alert] ?? expect.fail(`${rule.alert} has no case`);
    const { labels, summary, afterMinutes, series } = fires;
    const alert = {
      exp_labels: { severity: rule.labels.severity, ...labels },
      exp_annotations: { summary },
    };
    // Not at the start of the problem, but after the problem has lasted.
    const times = [
      { eval_time: "0m", alertname: rule.alert, exp_alerts: [] },
      { eval_time: `${afterMinutes}m`, alertname: rule.alert, exp_alerts: [alert] },
    ];
    await tested([{ series, times }]);
  });

  it.for(rules)("$alert does not fire for any other reason", async ({ alert }) => {
    const { quiet = [] } = alertCases[alert] ?? {};
    const minutes = Array.from({ length: 60 }, (_, minute) => minute);
    const times = minutes.map((minute) => ({ eval_time: `${minute}m`, alertname: alert, exp_alerts: [] }));
    await tested(quiet.map((series) => ({ series: { ...inOrder, ...series }, times })));
  });

  it("WaveHasNoLeader fires if no Wave is left to be scraped", async () => {
    const { severity } = rules.find(({ alert }) => alert === "WaveHasNoLeader")?.labels ?? {};
    const summary = "Wave has no leader and rolls no workload. Check its Pods and its Lease.";
    const exp_annotations = { summary };
    const exp_alerts = [{ exp_labels: { severity }, exp_annotations }];
    await tested([{ series: {}, times: [{ eval_time: "5m", alertname: "WaveHasNoLeader", exp_alerts }] }]);
  });
});

/** Rejects if the alerts are not as expected by promtool. */
async function tested(
  scenes: readonly { readonly series: Readonly<Record<string, string>>; readonly times: object[] }[],
) {
  const tests = scenes.map(({ series, times }) => ({
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: times,
  }));
  const said = await promtool(["test", "rules"], "test.yaml", stringify({ rule_files: [file], tests }));
  expect(said).toContain("SUCCESS");
}
