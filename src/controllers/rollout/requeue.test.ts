import { describe, expect, it } from "vitest";
import { workload } from "../../../test/support/fake-cluster.ts";
import { kinds } from "../../domain/model/built-in-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { newRecord } from "./record/workload-record.ts";
import { requeueAfterMs } from "./requeue.ts";

const { metadata, spec } = workload("web");
const web = toWorkload(kinds.Deployment, { metadata: { ...metadata, namespace: "default", uid: "1" }, spec });
const refused = { type: "refused", message: "forbidden", workload: web } as const;

describe("the wait after what is refused", () => {
  it("doubles with each try up to five minutes", () => {
    const record = newRecord();
    const waits: number[] = [];
    for (let now = 0, tries = 0; tries < 13; tries++) {
      const ms = requeueAfterMs(record, refused, now, () => 1) ?? expect.unreachable();
      waits.push(ms);
      now += ms;
    }
    expect(waits.slice(0, 4)).toEqual([200, 400, 800, 1_600]);
    expect(waits.at(-1)).toBe(300_000);
  });

  it("grows no longer by tries that somebody else asks for sooner", () => {
    const record = newRecord();
    requeueAfterMs(record, refused, 0, () => 1);
    requeueAfterMs(record, refused, 200, () => 1);
    for (let now = 201; now < 500; now++) expect(requeueAfterMs(record, refused, now, () => 1)).toBe(400);
    expect(requeueAfterMs(record, refused, 900, () => 1)).toBe(800);
  });
});
