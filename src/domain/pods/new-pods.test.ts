import { describe, expect, it } from "vitest";
import type { Pod } from "#kubernetes";
import { newPodsOf, stuckAfterMs, withVolumeReason } from "./new-pods.ts";
import { describeStuck, everyObject, observePod, quotaReason, quotaReasonOf, stuckReason } from "./observed-pod.ts";

const createdAt = Date.UTC(2026, 0, 1, 12);
const rollout = { hash: "new", rolledAt: createdAt, now: createdAt + stuckAfterMs };
const noRoom = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes are available." };
const pulling = (reason: string) => ({ waiting: { reason, message: `Back-off pulling image "x"` } });

function pod(status: NonNullable<Pod["status"]>, name = "web-0", hash = "new") {
  const metadata = { name, uid: name, creationTimestamp: new Date(createdAt).toISOString() };
  return { ...observePod({ metadata, status }, everyObject, undefined), hash };
}

function container(state: object, restartCount = 0) {
  return {
    containerStatuses: [{ name: "app", image: "", imageID: "", ready: false, restartCount, state }],
  } as NonNullable<Pod["status"]>;
}

const shown = (...pods: readonly ReturnType<typeof pod>[]) => newPodsOf(pods, rollout, undefined);

describe("a rollout is stuck", () => {
  it("if a new Pod has no node, with the words of the scheduler", () => {
    const message = "0/1 nodes are available";
    const stuck = { state: "stuck", pod: "web-0", reason: "Unschedulable", message } as const;
    expect(shown(pod({ conditions: [noRoom] }))).toEqual(stuck);
    expect(describeStuck(stuck)).toBe(`Pod "web-0" does not start (Unschedulable: ${message})`);
  });

  it("if the kubelet cannot pull its image", () => {
    for (const reason of ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"])
      expect(shown(pod(container(pulling(reason))))).toMatchObject({ state: "stuck", reason });
  });

  it("if a volume of a new Pod is not attached, with the words of the Event about the Pod", () => {
    const message = "Multi-Attach error";
    const waiting = { ...pod(container({ waiting: { reason: "ContainerCreating" } })), hash: "new" };
    expect(shown(waiting)).toBeUndefined();
    expect(shown({ ...withVolumeReason(waiting, message), hash: "new" })).toEqual({
      state: "stuck",
      pod: "web-0",
      reason: "FailedAttachVolume",
      message,
    });
  });

  it("if a quota rejects its Pods, and not if anything else does", () => {
    const message =
      'pods "web-6f" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2';
    const refused = quotaReason(message);
    expect(newPodsOf([], rollout, refused)).toEqual({
      state: "stuck",
      pod: undefined,
      reason: "FailedCreate",
      message,
    });
    const status = (text: string) => ({ conditions: [{ type: "ReplicaFailure", status: "True", message: text }] });
    expect(quotaReasonOf(status(message))).toEqual(refused);
    expect(quotaReasonOf(status('admission webhook "x" denied the request: password=1234'))).toBeUndefined();
    expect(quotaReasonOf({ conditions: "malformed" })).toBeUndefined();
  });
});

describe("a rollout is not stuck", () => {
  it("if a new container runs and is not ready, or has exited", () => {
    const stuck = pod({ conditions: [noRoom] }, "web-1");
    expect(shown(pod(container({ running: {} })), stuck)).toBeUndefined();
    expect(shown(pod(container({ terminated: { exitCode: 1 } })), stuck)).toBeUndefined();
    expect(shown(pod(container(pulling("ImagePullBackOff"), 1)))).toBeUndefined();
    expect(shown(pod(container({ waiting: { reason: "CrashLoopBackOff", message: "secret" } }, 1)))).toBeUndefined();
    expect(shown(pod(container({ waiting: { reason: "CreateContainerConfigError", message: "x" } })))).toBeUndefined();
  });

  it("by Pods of an earlier rollout, by a Pod that ends, or in its first 30 seconds", () => {
    const stuck = pod({ conditions: [noRoom] });
    expect(shown({ ...stuck, hash: "old" })).toBeUndefined();
    expect(shown({ ...stuck, ending: true })).toBeUndefined();
    expect(newPodsOf([stuck], { ...rollout, now: rollout.now - 1 }, undefined)).toBeUndefined();
    expect(newPodsOf([], { ...rollout, now: rollout.now - 1 }, stuckReason("FailedCreate"))).toBeUndefined();
  });

  it("but failed if a container of another new Pod restarts again and again", () => {
    const restarting = { ...pod(container({ running: {} }, 3), "web-1"), ready: true };
    expect(shown(pod({ conditions: [noRoom] }), restarting)).toMatchObject({ state: "restarts", pod: "web-1" });
  });
});

it("a message is one line of at most 300 characters, without control characters", () => {
  const { message } = stuckReason("Unschedulable", `a\nb\u202e${"c".repeat(400)}`);
  expect(message).toMatch(/^a b c+…$/);
  expect(message).toHaveLength(300);
});

describe("a container of a validator", () => {
  const exited = { terminated: { exitCode: 3 } };
  const ended = (state: object, lastState: object, name = "check-0") => {
    const status = container(state) ?? {};
    const [first] = status.containerStatuses ?? [];
    return pod({ containerStatuses: first === undefined ? [] : [{ ...first, lastState }] }, name);
  };
  const ofValidator = (...pods: readonly ReturnType<typeof pod>[]) =>
    newPodsOf(pods, { ...rollout, ofValidator: true }, undefined);
  const failure = { state: "exited", pod: "check-0", container: "app", exitCode: 3 };

  it("fails at its first exit, also while it waits for its restart", () => {
    expect(ofValidator(ended(exited, {}))).toMatchObject(failure);
    expect(ofValidator(ended({ waiting: { reason: "CrashLoopBackOff" } }, exited))).toMatchObject(failure);
  });

  it("has passed again when it has run for a minute after its exit", () => {
    const running = (ms: number) => ({ running: { startedAt: new Date(rollout.now - ms).toISOString() } });
    expect(ofValidator(ended(running(59_000), exited))).toMatchObject(failure);
    expect(ofValidator(ended(running(60_000), exited))).toBeUndefined();
  });

  it("does not fail with exit code 0, in a Pod of an earlier rollout, or of another workload", () => {
    expect(ofValidator(ended({ terminated: { exitCode: 0 } }, {}))).toBeUndefined();
    expect(ofValidator({ ...ended(exited, {}), hash: "old" })).toBeUndefined();
    expect(shown(ended(exited, {}))).toBeUndefined();
  });
});
