import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeVerdict } from "../../src/domain/plan/verdict.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { playedSeed } from "../support/played-seed.ts";

const program = join(controlPlaneFolder(), "argo-cd-health");
const script = join(import.meta.dirname, "../../deploy/argo-cd/health.lua");
const isMissing = !existsSync(program);

/** The health of one object, as Argo CD shows it without and with the check. */
interface Health {
  readonly builtIn: { readonly status: string };
  readonly custom: { readonly status: string; readonly message?: string };
}

function healthOf(objects: readonly object[]): readonly Health[] {
  return JSON.parse(execFileSync(program, [script], { input: JSON.stringify(objects), encoding: "utf8" }));
}

const count = fc.option(fc.nat(3), { nil: undefined });
const object = fc.record({
  apiVersion: fc.constant("apps/v1"),
  kind: fc.constantFrom("Deployment", "StatefulSet", "DaemonSet"),
  metadata: fc.record({ name: fc.constant("web"), generation: fc.integer({ min: 1, max: 2 }) }),
  spec: fc.record({
    replicas: count,
    paused: fc.constantFrom(undefined, undefined, true, false),
    updateStrategy: fc.constantFrom(
      undefined,
      { type: "OnDelete" },
      { type: "RollingUpdate" },
      { type: "RollingUpdate", rollingUpdate: {} },
      { type: "RollingUpdate", rollingUpdate: { partition: 1 } },
    ),
  }),
  status: fc.record({
    observedGeneration: fc.constantFrom(undefined, 1, 2, 2, 2),
    replicas: count,
    updatedReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
    desiredNumberScheduled: count,
    updatedNumberScheduled: count,
    numberAvailable: count,
    currentRevision: fc.constant("web-1"),
    updateRevision: fc.constantFrom("web-1", "web-2"),
    conditions: fc.constantFrom(undefined, [], [{ type: "Progressing", reason: "ProgressDeadlineExceeded" }]),
  }),
});
const objects = fc.sample(object, { seed: playedSeed(), numRuns: 2_000 });
const noted = (state: string, reason: string) =>
  writeVerdict({ state, reason, since: 0, until: undefined, object: undefined });
const withState = (state: string, reason: string) =>
  objects.map((each) => ({
    ...each,
    metadata: { ...each.metadata, annotations: { "wave.pusher.com/state": noted(state, reason) } },
  }));

describe.skipIf(isMissing)(
  `the health check for Argo CD${isMissing ? " (test/gitops/install builds its library)" : ""}`,
  () => {
    it("is the built-in check if Wave holds no rollout", () => {
      const all = healthOf(objects);
      expect(all.map(({ custom }) => custom.status)).toEqual(all.map(({ builtIn }) => builtIn.status));
      expect(new Set(all.map(({ custom }) => custom.status)).size).toBe(4);
    });

    it("shows a held rollout as Progressing, unless the workload is degraded", () => {
      const all = healthOf(withState("held", "window"));
      const wanted = all.map(({ builtIn }) => (builtIn.status === "Degraded" ? "Degraded" : "Progressing"));
      expect(all.map(({ custom }) => custom.status)).toEqual(wanted);
    });

    it("is the built-in check if the noted state is another one", () => {
      const all = healthOf(withState("rolling", ""));
      expect(all.map(({ custom }) => custom.status)).toEqual(all.map(({ builtIn }) => builtIn.status));
    });

    it("shows a halted rollout as Degraded, with the next step", () => {
      for (const { custom } of healthOf(withState("held", "halted")))
        expect(custom).toEqual({ status: "Degraded", message: expect.stringContaining("Run wave explain.") });
    });
  },
);
