import { describe, expect, it } from "vitest";
import { disownScheduler, invalidScheduler } from "./scheduling-hold.ts";

const row = { template: "/spec/template" };
const fieldsV1 = { "f:spec": { "f:template": { "f:spec": { "f:schedulerName": {} } } } };

const disown = (schedulerName: string | undefined, ...managers: readonly string[]) =>
  disownScheduler(
    row,
    { managedFields: managers.map((manager) => ({ manager, operation: "Update", fieldsV1 })) },
    schedulerName,
  );

describe("after a scheduling hold", () => {
  it.each(["wave", "wave-recorded-config"])(
    "%s gives up only its own field, if the entry is still there",
    (manager) => {
      expect(disown("default-scheduler", "kubectl", manager)).toEqual([
        { op: "test", path: "/metadata/managedFields/1/manager", value: manager },
        { op: "remove", path: "/metadata/managedFields/1/fieldsV1/f:spec/f:template/f:spec/f:schedulerName" },
      ]);
    },
  );

  it("nothing is given up during the hold, or if another client has set the scheduler", () => {
    expect(disown(invalidScheduler, "wave")).toBeUndefined();
    expect(disown("other", "kubectl")).toBeUndefined();
    expect(disownScheduler(row, {}, undefined)).toBeUndefined();
  });
});
