import { describe, expect, it } from "vitest";
import type { ObjectEvent } from "../kube/event-recorder.ts";
import { EventOutbox } from "./event-outbox.ts";

const event = (message: string): ObjectEvent => ({
  regarding: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web", uid: "1" },
  type: "Normal",
  reason: "ConfigChanged",
  message,
});

/** An outbox whose Events are under way until the test says that they have arrived. */
function start(mayWrite: () => boolean = () => true, writesWait: () => boolean = () => false) {
  const underWay: { readonly message: string; readonly arrive: () => void }[] = [];
  const sent: string[] = [];
  const record = ({ message }: ObjectEvent) =>
    new Promise<void>((resolve) => {
      sent.push(message);
      underWay.push({ message, arrive: resolve });
    });
  const arriveAll = async () => {
    for (let one = underWay.shift(); one !== undefined; one = underWay.shift()) {
      one.arrive();
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  return { outbox: new EventOutbox({ record }, mayWrite, writesWait), underWay, sent, arriveAll };
}

describe("the outbox of Events", () => {
  it("sends every Event in order, only so many at once, and is drained when the last has arrived", async () => {
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

  it("sends one at a time while workloads wait to be written, and more when none do", async () => {
    let wait = true;
    const { outbox, underWay, sent, arriveAll } = start(
      () => true,
      () => wait,
    );
    const messages = Array.from({ length: 10 }, (_, index) => String(index));
    for (const message of messages) outbox.post(event(message));
    expect(underWay).toHaveLength(1);
    wait = false;
    underWay.shift()?.arrive();
    await Promise.resolve();
    expect(underWay).toHaveLength(4);
    await arriveAll();
    await outbox.drained();
    expect(sent).toEqual(messages);
  });

  it("is drained at once when nothing is under way", async () => {
    await expect(start().outbox.drained()).resolves.toBeUndefined();
  });

  it("sends nothing more once this process may not write", async () => {
    let may = true;
    const { outbox, sent, arriveAll } = start(
      () => may,
      () => true,
    );
    for (const message of ["a", "b", "c"]) outbox.post(event(message));
    may = false;
    await arriveAll();
    await outbox.drained();
    expect(sent).toEqual(["a"]);
  });
});
