import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLeaseServer } from "../../../test/support/fake-lease-server.ts";
import { FakeReplica } from "../../../test/support/fake-replica.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import { electionIdentity } from "./leader-election.ts";

const hour = 3_600_000;

/** A server with a Lease without holder, so that the first replica leads at once. */
function freeLease(): { clock: FakeClock; server: FakeLeaseServer } {
  const server = new FakeLeaseServer();
  server.write({});
  return { clock: new FakeClock(), server };
}

/** A leader "a" and a standby "b" that has seen it renew. */
async function leaderAndStandby() {
  const { clock, server } = freeLease();
  const a = new FakeReplica({ server, base: clock, identity: "a" });
  await clock.advance(100);
  const b = new FakeReplica({ server, base: clock, identity: "b" });
  await clock.advance(5_000);
  expect([a.valid, b.valid]).toEqual([true, false]);
  return { clock, server, a, b };
}

/** Advances in steps until `condition` is true, and returns the elapsed milliseconds. */
async function until(clock: FakeClock, condition: () => boolean, atMostMs = 60_000): Promise<number> {
  const start = clock.monotonic();
  while (!condition()) {
    if (clock.monotonic() - start > atMostMs) throw new Error(`not within ${atMostMs} ms`);
    await clock.advance(10);
  }
  return clock.monotonic() - start;
}

describe("a replica in the election", () => {
  it("leads at once with a Lease without holder, and writes the standard fields", async () => {
    const { clock, server } = freeLease();
    const a = new FakeReplica({ server, base: clock, identity: "a" });
    expect(await until(clock, () => a.valid)).toBeLessThan(50);
    expect(server.lease?.spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.004000Z",
      renewTime: "2026-01-01T00:00:00.004000Z",
      leaseTransitions: 1,
    });
  });

  it("creates a missing Lease, and leads after the Lease has existed for a lease duration", async () => {
    const clock = new FakeClock();
    const server = new FakeLeaseServer();
    const a = new FakeReplica({ server, base: clock, identity: "a" });
    await clock.advance(100);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 0 });
    expect(await until(clock, () => a.valid)).toBeGreaterThan(14_850);
    expect(clock.monotonic()).toBeLessThan(15_100);
  });

  it("renews every retry period, and keeps the acquire time and the number of transitions", async () => {
    const { clock, server, a } = await leaderAndStandby();
    const before = server.lease?.spec;
    server.answers.length = 0;
    await clock.advance(20_000);
    const after = server.lease?.spec;
    expect(server.answers.filter((answer) => answer === "PUT 200")).toHaveLength(10);
    expect(after).toEqual({ ...before, renewTime: after?.renewTime });
    expect(after?.renewTime).not.toBe(before?.renewTime);
    expect(a.terms).toHaveLength(1);
  });

  it("reports the leader in its log and in wave_leader", async () => {
    const { a, b } = await leaderAndStandby();
    expect(b.logged).toEqual(['info another replica leads {"lease":"wave/wave","leader":"a"}']);
    expect(a.logged.slice(-1)).toEqual(['info this replica leads {"lease":"wave/wave","leader":"a"}']);
    expect(a.logged.join("\n")).not.toContain("leads when");
    expect(a.metrics.render()).toMatch(/^wave_leader 1$/m);
    expect(b.metrics.render()).toMatch(/^wave_leader 0$/m);
    expect(b.metrics.render()).toMatch(/^wave_leader_transitions 1$/m);
  });

  it("records on the Lease that it became leader", async () => {
    const { clock, server } = freeLease();
    const events: ObjectEvent[] = [];
    const record = async (event: ObjectEvent) => {
      events.push(event);
    };
    const a = new FakeReplica({ server, base: clock, identity: "a", recorder: { record } });
    await until(clock, () => a.valid);
    const regarding = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace: "wave", name: "wave" };
    expect(events).toEqual([
      {
        regarding: { ...regarding, uid: server.lease?.metadata?.uid },
        type: "Normal",
        reason: "LeaderElection",
        message: "a became leader",
      },
    ]);
  });

  it("logs the missing permission once, and leads after the permission was granted", async () => {
    const { clock, server } = freeLease();
    server.refuse = { status: 403, reason: "Forbidden" };
    const a = new FakeReplica({ server, base: clock, identity: "a" });
    await clock.advance(10_000);
    expect(a.logged).toHaveLength(1);
    expect(a.logged[0]).toMatch(
      /no permission for Lease wave\/wave; grant create, and get and update.*--leader-election-namespace.*403 Forbidden/,
    );
    server.refuse = undefined;
    expect(await until(clock, () => a.valid)).toBeLessThan(1_250);
  });

  it("has a new identity after each start", () => {
    expect(electionIdentity("host-1")).toMatch(/^host-1_[0-9a-f-]{36}$/);
    expect(electionIdentity("host-1")).not.toBe(electionIdentity("host-1"));
  });
});

describe("a leader that is stopped", () => {
  it("finishes its write while it renews, releases the Lease, and another replica leads within 1.3 s", async () => {
    const { clock, server, a, b } = await leaderAndStandby();
    a.writeMs = 6_000;
    await until(clock, () => a.inFlight === 1);
    const exited = a.shutDown();
    await clock.advance(5_000);
    expect([a.inFlight, a.valid, b.valid]).toEqual([1, true, false]);
    expect(a.terms[0]?.leadership.abort.aborted).toBe(false);
    await until(clock, () => server.lease?.spec?.holderIdentity === "");
    expect(a.inFlight).toBe(0);
    expect(server.lease?.spec).toMatchObject({ leaseDurationSeconds: 1, leaseTransitions: 1 });
    await exited;
    expect(await until(clock, () => b.valid)).toBeLessThan(1_300);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: 2 });
  });

  it("leaves no timer", async () => {
    const { clock, server } = freeLease();
    const a = new FakeReplica({ server, base: clock, identity: "a" });
    await until(clock, () => a.valid);
    const exited = a.shutDown();
    await clock.advance(10);
    await exited;
    expect(clock.pending).toBe(0);
  });

  it("aborts work that takes longer than the renew deadline, and lets the Lease expire", async () => {
    const { clock, server, a } = await leaderAndStandby();
    a.writeMs = hour;
    await until(clock, () => a.inFlight === 1);
    const exited = a.shutDown();
    expect(await until(clock, () => a.inFlight === 0)).toBeCloseTo(10_000, -2);
    await exited;
    expect(server.lease?.spec?.holderIdentity).toBe("a");
  });

  it("logs that it cannot release the Lease, and ends", async () => {
    const { clock, server, a } = await leaderAndStandby();
    server.refuse = { status: 500, reason: "InternalError" };
    const exited = a.shutDown();
    await clock.advance(1_000);
    await exited;
    expect(a.logged.at(-1)).toMatch(/^warn cannot release the Lease; another replica acquires it when it has expired/);
  });

  it("ends at once as a standby, even while a request hangs", async () => {
    const { clock, b } = await leaderAndStandby();
    b.network.cut = true;
    await clock.advance(2_000);
    let ended = false;
    void b.shutDown().then(() => {
      ended = true;
    });
    await clock.advance(1);
    expect(ended).toBe(true);
  });

  it("releases the Lease and fails if its work fails", async () => {
    const { clock, server } = freeLease();
    const a = new FakeReplica({ server, base: clock, identity: "a" });
    a.afterStop = () => Promise.reject(new Error("the work failed"));
    await until(clock, () => a.valid);
    const exited = a.shutDown().catch((error: unknown) => String(error));
    await clock.advance(100);
    expect(await exited).toBe("Error: the work failed");
    expect(server.lease?.spec?.holderIdentity).toBe("");
  });
});

describe("a leader that is killed", () => {
  it("is replaced not before a lease duration after its last renewal, and within 17 s", async () => {
    const { clock, a, b } = await leaderAndStandby();
    for (let round = 0; round < 8; round++) await clock.advance(130);
    a.clock.stop();
    const took = await until(clock, () => b.valid);
    expect(took).toBeGreaterThan(13_000);
    expect(took).toBeLessThan(17_000);
  });

  it.each([-hour, -20_000, 20_000, hour])(
    "is replaced at the same time by a replica whose clock is %i ms off",
    async (offset) => {
      const { clock, a, b } = await leaderAndStandby();
      b.clock.wallOffsetMs = offset;
      await clock.advance(30_000);
      expect([a.valid, b.valid]).toEqual([true, false]);
      a.clock.stop();
      const took = await until(clock, () => b.valid);
      expect(took).toBeGreaterThan(13_000);
      expect(took).toBeLessThan(17_000);
    },
  );
});

describe("a leader that cannot renew", () => {
  it("aborts requests in flight 10 s after its last renewal, before another replica leads, and becomes a standby", async () => {
    const { clock, a, b } = await leaderAndStandby();
    a.writeMs = hour;
    await until(clock, () => a.inFlight === 1);
    a.network.cut = true;
    const validFor = await until(clock, () => !a.valid);
    expect(validFor).toBeGreaterThan(7_900);
    expect(validFor).toBeLessThan(10_050);
    expect([a.inFlight, b.valid]).toEqual([0, false]);
    expect(await until(clock, () => b.valid)).toBeGreaterThan(4_900);
    a.network.cut = false;
    await clock.advance(7_000);
    expect([a.valid, b.valid]).toEqual([false, true]);
    expect(a.logged.at(-1)).toBe('info another replica leads {"lease":"wave/wave","leader":"b"}');
  });

  it("acquires the Lease again, with a new leadership, if no other replica wants it", async () => {
    const { clock, server, a, b } = await leaderAndStandby();
    b.network.cut = true;
    a.network.cut = true;
    await until(clock, () => !a.valid);
    a.network.cut = false;
    await until(clock, () => a.valid, 6_500);
    expect(a.terms).toHaveLength(2);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 1 });
  });

  it("does not renew by a response that arrived while it was suspended", async () => {
    const { clock, a, b } = await leaderAndStandby();
    a.network.delayMs = () => 900;
    await clock.advance(2_500);
    // Stopped between the write of a renewal and its answer.
    a.clock.stop();
    await until(clock, () => b.valid);
    a.clock.resume();
    await clock.advance(0);
    expect([a.valid, b.valid]).toEqual([false, true]);
  });

  it("does not become leader by a response that arrived while it was suspended", async () => {
    const { clock, server, a, b } = await leaderAndStandby();
    b.network.delayMs = () => 900;
    a.clock.stop();
    await until(clock, () => server.lease?.spec?.holderIdentity === "b");
    b.clock.stop();
    const c = new FakeReplica({ server, base: clock, identity: "c" });
    await until(clock, () => c.valid);
    b.clock.resume();
    await clock.advance(0);
    expect([b.valid, c.valid]).toEqual([false, true]);
    await clock.advance(5_000);
    expect(b.terms).toHaveLength(0);
  });

  it("detects on SIGCONT, before any timer, that its leadership has ended", async () => {
    const { clock, a } = await leaderAndStandby();
    a.clock.stop();
    await clock.advance(30_000);
    expect(a.terms[0]?.leadership.abort.aborted).toBe(false);
    expect(a.terms[0]?.leadership.valid()).toBe(false);
  });

  it("detects after a suspension, in which the monotonic clock stopped, that its leadership has ended", async () => {
    const { a } = await leaderAndStandby();
    a.clock.wallOffsetMs += 10_001;
    expect(a.valid).toBe(false);
  });

  it("ends its leadership for good when its wall clock jumps forward and back, and leads again with a new one", async () => {
    const { clock, server, a } = await leaderAndStandby();
    await clock.advance(15_000);
    const [term] = a.terms;
    a.clock.wallOffsetMs += hour;
    expect(term?.leadership.valid()).toBe(false);
    a.clock.wallOffsetMs -= hour;
    expect([term?.leadership.valid(), term?.leadership.abort.aborted]).toEqual([false, true]);
    expect(await until(clock, () => a.valid)).toBeLessThan(100);
    expect(a.terms).toHaveLength(2);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 1 });
  });

  it("keeps its leadership when its wall clock is set back, but not longer", async () => {
    const { clock, a } = await leaderAndStandby();
    a.clock.wallOffsetMs -= hour;
    await clock.advance(20_000);
    expect(a.terms).toHaveLength(1);
    a.network.cut = true;
    expect(await until(clock, () => !a.valid)).toBeLessThan(10_050);
  });
});

describe("a Lease that other clients change", () => {
  it("stays with its leader when another client edits other fields", async () => {
    const { clock, server, a } = await leaderAndStandby();
    server.write({ ...server.lease?.spec });
    await clock.advance(10_000);
    expect([a.valid, a.terms.length]).toEqual([true, 1]);
    expect(server.answers).toContain("PUT 409");
  });

  it("is created again by its leader after a deletion, with the same number of transitions", async () => {
    const { clock, server, a, b } = await leaderAndStandby();
    for (let round = 0; round < 5; round++) {
      server.delete();
      await clock.advance(3_700);
      expect(server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 1 });
    }
    expect([a.valid, a.terms.length, b.terms.length]).toEqual([true, 1, 0]);
  });

  it("is claimed by another replica after a deletion while its leader is cut off, which leads only after the leadership ended", async () => {
    const { clock, server, a, b } = await leaderAndStandby();
    a.network.cut = true;
    server.delete();
    await until(clock, () => server.lease?.spec?.holderIdentity === "b", 5_000);
    expect([a.valid, b.valid]).toEqual([true, false]);
    await until(clock, () => !a.valid, 10_000);
    expect(b.valid).toBe(false);
    await until(clock, () => b.valid, 15_000);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 2 });
  });

  it("ends the leadership of a replica that reads another holder", async () => {
    const { clock, server, a } = await leaderAndStandby();
    server.write({ holderIdentity: "c", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" });
    await until(clock, () => !a.valid, 2_100);
    expect(a.terms[0]?.leadership.abort.aborted).toBe(true);
    expect(a.logged.join("\n")).toMatch(/no longer leads.*another replica holds the Lease/);
  });
});

describe("the health of a replica", () => {
  it("is good for a standby that cannot reach the API server", async () => {
    const { clock, b } = await leaderAndStandby();
    b.network.cut = true;
    await clock.advance(120_000);
    expect(b.elector.healthy()).toBeUndefined();
  });

  it("is bad for a leader whose renewals hang for two lease durations, and good after one succeeds", async () => {
    const { clock, a } = await leaderAndStandby();
    a.network.cut = true;
    await clock.advance(27_000);
    expect(a.elector.healthy()).toBeUndefined();
    await clock.advance(4_000);
    expect(a.elector.healthy()).toMatch(
      /^leader election: this replica was leader and has not renewed Lease wave\/wave/,
    );
    a.network.cut = false;
    await clock.advance(7_000);
    expect(a.elector.healthy()).toBeUndefined();
  });

  it("is bad for a replica that lost the leadership and whose work does not end", async () => {
    const { clock, server, a } = await leaderAndStandby();
    a.afterStop = () => new Promise(() => {});
    server.write({ holderIdentity: "c", leaseDurationSeconds: 15 });
    await clock.advance(35_000);
    expect(a.elector.healthy()).toMatch(/^leader election/);
    expect(a.terms).toHaveLength(1);
  });
});
