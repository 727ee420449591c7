import { describe, expect, it } from "vitest";
import { type Appearances, glossary } from "../../deploy/values/glossary.ts";
import { workloadStateNames } from "../../src/cli/cluster/states/state-rows.ts";
import { commands } from "../../src/cli/commands.ts";
import { runFlags } from "../../src/cli/flags/run-flags.ts";
import { holdReasons } from "../../src/domain/pacing/holds.ts";
import { policyAnnotations } from "../../src/domain/policy/policy-rows.ts";
import * as annotations from "../../src/domain/references/annotations.ts";
import { outcomes } from "../../src/notify/notification/notification.ts";
import { catalogue } from "../../src/telemetry/catalogue.ts";

const { annotationPrefix } = annotations;
const rows = Object.values(catalogue).flatMap((each) => Object.values(each));

/** The values that a label of a metric may have. */
function labelValues(metric: string, label: string): readonly string[] {
  const values = rows.find(({ name }) => name === metric)?.labels[label];
  if (values === undefined || typeof values === "string") throw new Error(`${metric} has no label ${label}`);
  return Array.isArray(values) ? values : Object.keys(values);
}

/** Every name in flags, annotations, commands, Events and metrics. */
const named: Readonly<Record<keyof Appearances, readonly string[]>> = {
  flags: Object.keys(runFlags),
  annotations: [
    ...policyAnnotations,
    ...Object.values(annotations).flatMap((each) =>
      typeof each === "string" && each !== annotationPrefix ? [each.slice(annotationPrefix.length)] : [],
    ),
  ],
  commands: Object.keys(commands),
  events: Object.values(outcomes).flatMap(({ reasons }) => reasons),
  outcomes: labelValues("wave_outcomes_total", "outcome"),
  states: labelValues("wave_workloads", "state"),
  holds: holdReasons,
  listed: workloadStateNames,
  metrics: rows.map(({ name }) => name),
};

/** The places in which each name is a concept of Wave. The others also name things of Kubernetes and of other controllers. */
const complete = ["annotations", "events", "outcomes", "states", "holds", "listed"] as const;

const appearing = (place: keyof Appearances) => glossary.flatMap(({ appears }) => appears?.[place] ?? []);

describe("the glossary", () => {
  it.each(Object.keys(named) as (keyof Appearances)[])("names only %s that exist", (place) => {
    expect(appearing(place).filter((name) => !named[place].includes(name))).toEqual([]);
  });

  it.each(complete)("has a term for all %s", (place) => {
    expect(named[place].filter((name) => !appearing(place).includes(name))).toEqual([]);
  });

  it("is sorted, and has each term once", () => {
    const terms = glossary.map(({ term }) => term);
    expect(terms).toEqual([...new Set(terms)].toSorted((a, b) => a.localeCompare(b, "en")));
  });
});
