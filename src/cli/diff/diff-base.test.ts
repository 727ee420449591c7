import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";
import type { WorkloadDifference } from "./workload-difference.ts";

const configMap = (name: string, data: object, annotations = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, annotations },
  data,
});

const secret = (fields: object) => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, ...fields });

interface Wanted {
  readonly envFrom?: readonly object[];
  readonly image?: string;
  readonly annotations?: object;
  readonly kind?: string;
  readonly apiVersion?: string;
}

const page = { configMapRef: { name: "page" } };

const workload = (name: string, wanted: Wanted = {}) => {
  const { envFrom = [page], image = "nginx", annotations, kind = "Deployment", apiVersion = "apps/v1" } = wanted;
  return {
    apiVersion,
    kind,
    metadata: { name, annotations: { [updateOnConfigChange]: "true", ...annotations } },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image, envFrom }] } },
    },
  };
};

/** Writes objects into a new file, and returns its path. */
function fileOf(objects: readonly object[]): string {
  const file = join(mkdtempSync(join(tmpdir(), "wave-base-")), "all.yaml");
  writeFileSync(file, objects.map((object) => stringify(object)).join("---\n"));
  return file;
}

/** Runs `wave diff --base`. No kubeconfig exists, and any request would fail. */
function run(base: readonly object[], head: readonly object[], ...args: readonly string[]) {
  return runWave(["diff", "-f", fileOf(head), "--base", fileOf(base), ...args]);
}

async function diff(base: readonly object[], head: readonly object[], ...args: readonly string[]) {
  const { out, err } = await run(base, head, "-ojson", ...args);
  expect(err).toBe("");
  const { workloads, notes }: { workloads: readonly WorkloadDifference[]; notes: readonly string[] } = JSON.parse(out);
  return { workloads, notes, effects: workloads.map(({ name, effect }) => [name, effect]) };
}

describe("wave diff --base", () => {
  it("lists the workloads whose configuration differs between two branches, in the order of their batches, without a cluster", async () => {
    const others = [
      workload("b"),
      workload("a"),
      workload("other", { envFrom: [{ configMapRef: { name: "other" } }] }),
    ];
    const before = [configMap("page", { key: "1", old: "x" }), configMap("other", { key: "1" }), ...others];
    const { workloads, notes } = await diff(
      before,
      [configMap("page", { key: "2" }), configMap("other", { key: "1" }), ...others],
      "--max-concurrent-rollouts=1",
    );
    expect(workloads).toMatchObject([
      { name: "a", namespace: "default", effect: "roll", batch: 1, changes: [{ name: "page", keys: ["key", "old"] }] },
      { name: "b", effect: "roll", batch: 2, reason: 'ConfigMap "page" changed (keys "key" and "old").' },
    ]);
    expect(notes).toEqual([]);
    expect(await run(before, before)).toEqual({ code: 0, out: "No workload is affected.\n", err: "" });
  });

  it("assumes that an object outside of the manifests does not change, and names it", async () => {
    const web = workload("web", { envFrom: [page, { secretRef: { name: "db" } }] });
    const { effects, notes } = await diff(
      [configMap("page", { key: "1" }), web],
      [configMap("page", { key: "2" }), web],
    );
    expect(effects).toEqual([["web", "roll"]]);
    expect(notes).toEqual(['The comparison assumes that objects outside of the manifests do not change: Secret "db".']);
  });

  it("treats what only the base has as removed: fields, required and optional objects, and workloads", async () => {
    const optional = { configMapRef: { name: "page", optional: true } };
    const base = [
      configMap("page", { key: "1" }),
      workload("optional", { envFrom: [optional] }),
      workload("required"),
      workload("gone"),
      workload("template", { envFrom: [page], image: "nginx:1" }),
    ];
    const template = workload("template", { envFrom: [], image: "nginx:1" });
    const { effects, notes } = await diff(base, [
      workload("optional", { envFrom: [optional] }),
      workload("required"),
      template,
    ]);
    expect(effects.toSorted()).toEqual([
      ["optional", "roll"],
      ["required", "waiting"],
      ["template", "template"],
    ]);
    expect(notes).toEqual(['The manifests no longer have Deployment "gone".']);
  });

  it("shows new workloads, holds, and that data and stringData of a Secret are the same", async () => {
    const held = workload("held", {
      envFrom: [{ secretRef: { name: "db" } }],
      annotations: { "wave.pusher.com/hold": "true" },
    });
    const base = [secret({ stringData: { key: "1" } }), held];
    expect((await diff(base, [secret({ data: { key: "MQ==" } }), held])).effects).toEqual([]);
    const { effects } = await diff(base, [secret({ data: { key: "Mg==" } }), held, workload("new", { envFrom: [] })]);
    expect(effects).toEqual([
      ["held", "held"],
      ["new", "created"],
    ]);
  });

  it("includes requested kinds that the manifests have", async () => {
    const rollout = workload("web", { kind: "Rollout", apiVersion: "argoproj.io/v1alpha1" });
    const [base, head] = [
      [configMap("page", { key: "1" }), rollout],
      [configMap("page", { key: "2" }), rollout],
    ];
    expect((await diff(base, head)).effects).toEqual([]);
    expect((await diff(base, head, "--workload-kinds=rollouts.argoproj.io")).effects).toEqual([["web", "roll"]]);
  });

  it("prints no value, and reports everything as new if the base is empty", async () => {
    const head = [
      secret({ stringData: { key: "hunter2" } }),
      workload("web", { envFrom: [{ secretRef: { name: "db" } }] }),
    ];
    const { code, out } = await run([], head, "-omarkdown");
    expect(code).toBe(0);
    expect(out).toContain("| `default deployment/web` | created |");
    expect(out).not.toContain("hunter2");
  });

  it.each([
    { args: ["--context=prod"], message: "--base uses no cluster; remove --context or --base" },
    { args: ["--base=x,-"], message: "standard input cannot be the base; use a file or folder" },
  ])("rejects $args in one line", async ({ args, message }) => {
    const { code, err } = await run([], [configMap("page", {})], ...args);
    expect({ code, err }).toEqual({ code: 2, err: `error: ${message}\n` });
  });

  it("names the file of a malformed object of the base", async () => {
    const { code, err } = await run([configMap("page", { port: 8080 })], [configMap("other", {})]);
    expect(code).toBe(2);
    expect(err).toMatch(/all\.yaml:1: .*"port"/);
  });
});
