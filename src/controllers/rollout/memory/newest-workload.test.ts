import { describe, expect, it } from "vitest";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload, type Workload } from "../../../domain/model/workload.ts";
import { newestOf, rememberNewest, takeNewest } from "./newest-workload.ts";
import { findingsOf } from "./workload-memory.ts";

const { metadata, spec } = workload("web");
const web = (version: number, uid = "1", generation = version): Workload => {
  const names = { namespace: "default", uid, generation, resourceVersion: `${version}` };
  return toWorkload(kinds.Deployment, { metadata: { ...metadata, ...names }, spec });
};

describe("the newest known state of a workload", () => {
  it("is used until the cache has caught up", () => {
    const findings = findingsOf(undefined);
    const [old, after] = [web(1), web(3)];
    expect(newestOf(findings, old, 0)).toBe(old);
    rememberNewest(findings, old, after, 0);
    expect(newestOf(findings, old, 0)).toBe(after);
    // The cache first receives a write of another client before that of Wave.
    expect(newestOf(findings, web(2), 0)).toBe(after);
    const caughtUp = web(3);
    expect(takeNewest(findings, caughtUp, 0)).toBe(caughtUp);
    expect(newestOf(findings, old, 0)).toBe(old);
  });

  it("is used until then also if the write changed only annotations, which raises no generation", () => {
    const findings = findingsOf(undefined);
    const [old, after, caughtUp] = [web(1, "1", 1), web(3, "1", 1), web(3, "1", 1)];
    rememberNewest(findings, old, after, 0);
    expect(newestOf(findings, web(2, "1", 1), 0)).toBe(after);
    expect(newestOf(findings, caughtUp, 0)).toBe(caughtUp);
  });

  it("does not hide a workload that was recreated with the same name", () => {
    const findings = findingsOf(undefined);
    const old = web(1);
    rememberNewest(findings, old, web(7), 0);
    const anew = web(1, "2");
    expect(newestOf(findings, anew, 0)).toBe(anew);
  });

  it("expires if the cache never receives it", () => {
    const findings = findingsOf(undefined);
    const [old, after] = [web(1), web(2)];
    rememberNewest(findings, old, after, 0);
    expect(newestOf(findings, old, 29_999)).toBe(after);
    expect(newestOf(findings, old, 30_000)).toBe(old);
  });
});
