import { describe, expect, it } from "vitest";
import { judge, type TimedAuditEvent } from "./judge.ts";

/** Returns a request that was received and answered at `second`, in the one minute of these stories. */
function write(
  process: string,
  target: string,
  second: string,
  o: { answered?: string; code?: number; annotation?: string } = {},
) {
  const [resource = "", name = ""] = target.split("/");
  const at = (value: string) => `2026-11-21T10:00:${value.padStart(9, "0")}Z`;
  const event: TimedAuditEvent = {
    verb: resource === "leases" ? "update" : "patch",
    user: { username: "admin" },
    userAgent: `wave/0.1.0 (linux/x64; ${process})`,
    objectRef: { resource, name, namespace: "ha" },
    requestObject: [{ op: "add", path: `/metadata/annotations/wave.pusher.com~1${o.annotation ?? "recorded-config"}` }],
    responseStatus: { code: o.code ?? 200 },
    requestReceivedTimestamp: at(second),
    stageTimestamp: at(o.answered ?? second),
  };
  return event;
}

const handOver = [
  write("a", "leases/wave", "01.000000"),
  write("a", "deployments/x", "02.000000"),
  write("b", "leases/wave", "05.000000"),
  write("b", "deployments/x", "06.000000"),
];

describe("the judge of the audit log", () => {
  it("accepts a hand-over, counts the writes, and finds the leaderships even in a log that is out of order", () => {
    const note = write("b", "deployments/x", "07.000000", { annotation: "state" });
    const { terms, late, twoWriters, writes } = judge([...handOver, note].toReversed(), "ha");
    expect(terms.map(({ process }) => process)).toEqual(["a", "b"]);
    expect([late, twoWriters]).toEqual([[], []]);
    expect(writes).toEqual(new Map([["deployments/x", 2]]));
  });

  it("finds a write after another leader has begun to write", () => {
    const { late, twoWriters } = judge([...handOver, write("a", "statefulsets/y", "06.000001")], "ha");
    expect(late).toHaveLength(1);
    expect(twoWriters).toEqual(["statefulsets/y by a answered at 2026-11-21T10:00:06.000001Z"]);
  });

  it("finds a write that begins in time and ends after another leader has taken over", () => {
    const slow = write("a", "daemonsets/z", "04.900000", { answered: "05.100000" });
    expect(judge([...handOver, slow], "ha")).toMatchObject({ late: [expect.any(String)], twoWriters: [] });
    const slower = write("a", "daemonsets/z", "04.900000", { answered: "06.100000" });
    expect(judge([...handOver, slower], "ha").twoWriters).toHaveLength(1);
  });

  it("finds a writer that has never held the Lease", () => {
    expect(judge([...handOver, write("c", "deployments/x", "03.000000")], "ha").twoWriters).toHaveLength(1);
  });

  it("accepts a writer that has taken the Lease again", () => {
    const back = [write("a", "leases/wave", "08.000000"), write("a", "deployments/x", "09.000000")];
    expect(judge([...handOver, ...back], "ha")).toMatchObject({ late: [], twoWriters: [] });
  });

  it("ignores refused requests", () => {
    const refused = write("a", "deployments/x", "07.000000", { code: 422 });
    const { twoWriters, writes } = judge([...handOver, refused], "ha");
    expect(twoWriters).toEqual([]);
    expect(writes.get("deployments/x")).toBe(2);
  });
});
