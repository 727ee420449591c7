import { describe, expect, it } from "vitest";
import { workloadStateNames } from "../../src/cli/cluster/states/state-rows.ts";
import type { WorkloadRow } from "../../src/cli/ui/model.ts";
import { recordedModel } from "../../test/ui/recorded-model.ts";
import { shapes } from "./parts/mark.tsx";
import { byName, byUrgency, groupByState, nameOf, passes, toneOf } from "./states.ts";

const rows = byName(recordedModel(0).workloads);
const none = { cluster: "", namespace: "", state: "", text: "" };
const named = (shown: readonly WorkloadRow[]) => shown.map(nameOf);

it("needs a person first for what failed, then for the rest in red, then for holds", () => {
  expect(byUrgency(rows).map(({ state, because }) => (state === "held" ? because : state))).toEqual([
    "failed",
    "halted",
    "waiting",
    "overLimit",
    "hold",
    "approval",
    "unproven",
  ]);
});

describe("filters", () => {
  it("find a text in the name, the namespace, the sentence and the objects that are read", () => {
    const found = (text: string) => named(rows.filter((row) => passes(row, { ...none, text })));
    expect(found("STATEFULSET/ledger")).toEqual(["statefulset/ledger"]);
    expect(found("month-end")).toEqual(["statefulset/ledger"]);
    expect(found("secret/search-tls")).toEqual(["deployment/api"]);
    expect(found("billing")).toEqual(["deployment/invoices", "statefulset/ledger"]);
  });

  it("take a state with and without the reason of the hold", () => {
    const count = (state: string) => rows.filter((row) => passes(row, { ...none, state })).length;
    expect(count("held:approval")).toBe(1);
    expect(count("held")).toBe(6);
    expect(groupByState(rows).get("held:batch")).toHaveLength(2);
  });
});

it("has another shape for each state, so that no reader needs the colors", () => {
  const drawn = workloadStateNames.map((state) => shapes[state]);
  expect(drawn).not.toContain(undefined);
  expect(new Set(drawn).size).toBe(drawn.length);
  expect(toneOf("newer")).toBe("dim");
});
