import { describe, expect, it } from "vitest";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import { EventOutbox } from "./event-outbox.ts";

const event = (name: string, message = name, namespace = "default"): ObjectEvent => ({
  regarding: { apiVersion: "apps/v1", kind: "Deployment", namespace, name, uid: "1" },
  type: "Normal",
  reason: "ConfigChanged",
  message,
});

const yes = () => true;
const no = () => false;

/** An outbox whose Events are in flight until the test completes them. */
function start({ mayWrite = yes, writesWait = no }: { mayWrite?: () => boolean; writesWait?: () => boolean } = {}) {
  const underWay: (() => void)[] = [];
  const sent: string[] = [];
  const dropped: string[] = [];
  const record = ({ message }: ObjectEvent, times = 1) =>
    new Promise<void>((resolve) => {
      sent.push(times === 1 ? message : `${message} (x${times})`);
      underWay.push(resolve);
    });
  const arrive = async (one = underWay.shift()) => {
    one?.();
    await Promise.resolve();
    await Promise.resolve();
  };
  const arriveAll = async () => {
    while (underWay.length > 0) await arrive();
  };
  const onDropped = (because: string) => void dropped.push(because);
  const outbox = new EventOutbox({ recorder: { record }, mayWrite, writesWait, onDropped });
  return { outbox, underWay, sent, dropped, arrive, arriveAll };
}

describe("the outbox of Events", () => {
  it("sends every Event in order, a limited number at once, and is drained when the last has arrived", async () => {
    const { outbox, underWay, sent, arriveAll } = start();
    const messages = Array.from({ length: 50 }, (_, index) => String(index));
    for (const message of messages) outbox.post(event(message));
    expect(underWay).toHaveLength(4);
    let drained = false;
    const draining = outbox.drained().then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    await arriveAll();
    await draining;
    expect(sent).toEqual(messages);
  });

  it("sends one at a time while workloads wait for a write, and more otherwise", async () => {
    let wait = true;
    const { outbox, underWay, sent, arrive, arriveAll } = start({ writesWait: () => wait });
    const messages = Array.from({ length: 10 }, (_, index) => String(index));
    for (const message of messages) outbox.post(event(message));
    expect(underWay).toHaveLength(1);
    wait = false;
    await arrive();
    expect(underWay).toHaveLength(4);
    await arriveAll();
    await outbox.drained();
    expect(sent).toEqual(messages);
  });

  it("sends the maximum number at once when all other work is done, and drops waiting Events when it is closed", async () => {
    const { outbox, underWay, sent, arriveAll } = start({ writesWait: yes });
    for (let index = 0; index < 100; index++) outbox.post(event(`web-${index}`));
    expect(underWay).toHaveLength(1);
    const draining = outbox.drained();
    expect(underWay).toHaveLength(32);
    outbox.close();
    await arriveAll();
    await draining;
    expect([sent.length, outbox.waiting]).toEqual([32, 0]);
  });

  it("is drained at once when nothing is under way", async () => {
    await expect(start().outbox.drained()).resolves.toBeUndefined();
  });

  it("sends nothing after this process lost the right to write", async () => {
    let may = true;
    const { outbox, sent, arriveAll } = start({ mayWrite: () => may, writesWait: yes });
    for (const message of ["a", "b", "c"]) outbox.post(event(message));
    may = false;
    await arriveAll();
    await outbox.drained();
    expect(sent).toEqual(["a"]);
  });

  it("sends in turn by namespace: a thousand Events of one namespace delay an Event of another by one", async () => {
    const { outbox, sent, arriveAll } = start({ writesWait: yes });
    for (let index = 0; index < 1_000; index++) outbox.post(event(`loud-${index}`, "loud", "loud"));
    outbox.post(event("web", "quiet", "quiet"));
    await arriveAll();
    expect(sent.indexOf("quiet")).toBe(2);
    expect(sent).toHaveLength(1_001);
  });

  it("sends only the newest Event of an object and reason after the one in flight, and counts the dropped ones", async () => {
    const { outbox, sent, dropped, arrive, arriveAll } = start();
    for (const message of ["a", "b", "c", "c"]) outbox.post(event("web", message));
    expect(sent).toEqual(["a"]);
    await arrive();
    expect(sent).toEqual(["a", "c (x3)"]);
    await arriveAll();
    await outbox.drained();
    expect([sent, dropped, outbox.waiting]).toEqual([["a", "c (x3)"], ["newer"], 0]);
  });

  it.each([
    [undefined, "reported", undefined],
    ["perhaps", "reported", "perhaps"],
    ["reported", "perhaps", "perhaps"],
    ["reported", undefined, undefined],
  ] as const)("an Event that replaces an unsent one is new if either is new: %s, then %s, is %s", async (...marks) => {
    const posted: ObjectEvent[] = [];
    const recorder = { record: async (event: ObjectEvent) => void posted.push(event) };
    const outbox = new EventOutbox({ recorder, mayWrite: yes, writesWait: yes, onDropped: () => {} });
    const marked = (repeats: ObjectEvent["repeats"]) => ({ ...event("web"), ...(repeats && { repeats }) });
    outbox.post(event("first"));
    outbox.post(marked(marks[0]));
    outbox.post(marked(marks[1]));
    await outbox.drained();
    expect(posted.map(({ repeats }) => repeats)).toEqual([undefined, marks[2]]);
  });

  it("does not count Events of an object for a new object with the same name", async () => {
    const { outbox, sent, arriveAll } = start();
    const recreated = { ...event("a", "new") };
    for (const message of ["under way", "old"]) outbox.post(event("a", message));
    outbox.post({ ...recreated, regarding: { ...recreated.regarding, uid: "2" } });
    await arriveAll();
    expect(sent).toEqual(["under way", "new", "old"]);
  });

  it("keeps only the part of a message that can be sent", async () => {
    const { outbox, sent, arriveAll } = start({ writesWait: yes });
    outbox.post(event("web", "é".repeat(5_000)));
    await arriveAll();
    expect(Buffer.byteLength(sent[0] ?? "")).toBeLessThanOrEqual(1024);
  });

  it("keeps 4,096 Events, and drops those of the namespace with the most", async () => {
    const { outbox, sent, dropped, arriveAll } = start({ writesWait: yes });
    outbox.post(event("web", "first", "loud"));
    outbox.post(event("web", "quiet", "quiet"));
    for (let index = 0; index < 10_000; index++) outbox.post(event(`loud-${index}`, "loud", "loud"));
    outbox.post(event("other", "quiet", "quiet"));
    expect(outbox.waiting).toBe(4_096);
    expect(dropped).toEqual(Array(10_002 - 4_096).fill("full"));
    await arriveAll();
    expect(sent.filter((message) => message === "quiet")).toHaveLength(2);
    expect(sent).toHaveLength(1 + 4_096);
  });
});
