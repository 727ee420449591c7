import { describe, expect, it } from "vitest";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { kinds } from "../../../domain/model/built-in-kinds.ts";
import { toWorkload, type Workload } from "../../../domain/model/workload.ts";
import { learn, newestOf, newRecord } from "./workload-record.ts";

const { metadata, spec } = workload("web");
const web = (version: number, uid = "1", generation = version): Workload => {
  const names = { namespace: "default", uid, generation, resourceVersion: `${version}` };
  return toWorkload(kinds.Deployment, { metadata: { ...metadata, ...names }, spec });
};

describe("what is known to be newer than the cache", () => {
  it("counts until the cache has caught up", () => {
    const record = newRecord();
    const [old, after] = [web(1), web(3)];
    expect(newestOf(record, old, 0)).toBe(old);
    learn(record, old, after, 0);
    expect(newestOf(record, old, 0)).toBe(after);
    // Somebody's write before Wave's comes in first.
    expect(newestOf(record, web(2), 0)).toBe(after);
    const caughtUp = web(3);
    expect(newestOf(record, caughtUp, 0)).toBe(caughtUp);
    expect(newestOf(record, old, 0)).toBe(old);
  });

  it("counts until then also where the write changed only annotations, of which no generation tells", () => {
    const record = newRecord();
    const [old, after, caughtUp] = [web(1, "1", 1), web(3, "1", 1), web(3, "1", 1)];
    learn(record, old, after, 0);
    expect(newestOf(record, web(2, "1", 1), 0)).toBe(after);
    expect(newestOf(record, caughtUp, 0)).toBe(caughtUp);
  });

  it("does not hide a workload that was made anew under the same name", () => {
    const record = newRecord();
    const old = web(1);
    learn(record, old, web(7), 0);
    const anew = web(1, "2");
    expect(newestOf(record, anew, 0)).toBe(anew);
  });

  it("does not count for ever where the cache never hears of it", () => {
    const record = newRecord();
    const [old, after] = [web(1), web(2)];
    learn(record, old, after, 0);
    expect(newestOf(record, old, 29_999)).toBe(after);
    expect(newestOf(record, old, 30_000)).toBe(old);
  });
});
