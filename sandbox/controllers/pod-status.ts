import { type JsonObject, listOf, objectOf, stringOf } from "../objects/json.ts";
import { type ApiObject, timestamp } from "../objects/object.ts";
import type { Clock } from "../time/clock.ts";

/** Returns the status of a Pod whose containers run: those that do not run yet have started now. */
export function runningStatus(pod: ApiObject, clock: Clock): JsonObject {
  const now = timestamp(clock.wall());
  // Made of the UID, so that a Pod keeps its address.
  const octets = pod.metadata.uid.slice(0, 4).match(/../g) ?? [];
  const podIP = `10.244.${octets.map((octet) => Number.parseInt(octet, 16)).join(".")}`;
  const ended = containersOf(pod, "initContainers").map((container) => {
    const known = statusOf(pod, "initContainerStatuses", container);
    return known ?? { ...statusBefore(pod, container), ready: true, state: { terminated: completed(now) } };
  });
  return {
    ...objectOf(pod.status),
    phase: "Running",
    conditions: conditionsOf(pod, true, now),
    hostIP: "127.0.0.1",
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: objectOf(pod.status).startTime ?? now,
    ...(ended.length > 0 && { initContainerStatuses: ended }),
    containerStatuses: containersOf(pod).map((container) => startedStatus(pod, container, now)),
  };
}

/** Returns the status of a Pod that has just got a node. */
export function scheduledStatus(pod: ApiObject, clock: Clock): JsonObject {
  const condition = { type: "PodScheduled", status: "True", lastTransitionTime: timestamp(clock.wall()) };
  return { ...objectOf(pod.status), conditions: [condition] };
}

/** Returns the status of a Pod for which no node has room. */
export function unschedulableStatus(pod: ApiObject, clock: Clock): JsonObject {
  const known = listOf(objectOf(pod.status).conditions)[0];
  const condition = known ?? {
    ...{ type: "PodScheduled", status: "False", reason: "Unschedulable" },
    ...{ message: "0/1 nodes are available: 1 Insufficient memory.", lastTransitionTime: timestamp(clock.wall()) },
  };
  return { ...objectOf(pod.status), phase: "Pending", conditions: [condition] };
}

/** Returns the status of a Pod that waits for what it needs. Containers that run are not stopped. */
export function waitingStatus(pod: ApiObject, reason: string): JsonObject {
  const containerStatuses = containersOf(pod).map((container): JsonObject => {
    const known = statusOf(pod, "containerStatuses", container);
    return known !== undefined && isRunning(known)
      ? known
      : { ...statusBefore(pod, container), ready: false, state: { waiting: { reason } } };
  });
  const phase = containerStatuses.some(isRunning) ? "Running" : "Pending";
  return { ...objectOf(pod.status), phase, containerStatuses };
}

/** Returns the status of a Pod whose containers ended as soon as they had started. */
export function crashedStatus(pod: ApiObject, clock: Clock): JsonObject {
  const reason = "CrashLoopBackOff";
  const now = timestamp(clock.wall());
  const terminated = { exitCode: 1, reason: "Error", startedAt: now, finishedAt: now };
  const containerStatuses = containersOf(pod).map((container) => {
    const before = statusBefore(pod, container);
    // The first end stays: a status with other times would be another write.
    const lastState = objectOf(before.lastState).terminated === undefined ? { terminated } : before.lastState;
    return { ...before, ready: false, state: { waiting: { reason } }, lastState };
  });
  const { startTime = now } = objectOf(pod.status);
  return { ...objectOf(pod.status), phase: "Running", startTime, containerStatuses };
}

/** Returns the status of a Pod whose containers of these names have ended and not started again. */
export function stoppedStatus(pod: ApiObject, names: readonly string[], clock: Clock): JsonObject {
  const now = timestamp(clock.wall());
  const stopped = (status: JsonObject): JsonObject => {
    if (!names.includes(stringOf(status.name))) return status;
    const { startedAt = now } = objectOf(objectOf(status.state).running);
    const terminated = { exitCode: 1, reason: "Error", startedAt, finishedAt: now };
    return { ...status, ready: false, started: false, state: { terminated }, lastState: { terminated } };
  };
  const before = objectOf(pod.status);
  // The init containers run again only if their statuses are forgotten, as after the loss of the sandbox of the Pod.
  const init = listOf(before.initContainerStatuses).map(objectOf);
  const kept = init.filter(({ name }) => !names.includes(stringOf(name)));
  return {
    ...before,
    conditions: conditionsOf(pod, false, now),
    ...(init.length > 0 && { initContainerStatuses: kept }),
    containerStatuses: listOf(before.containerStatuses).map((status) => stopped(objectOf(status))),
  };
}

function startedStatus(pod: ApiObject, container: JsonObject, now: string): JsonObject {
  const known = statusOf(pod, "containerStatuses", container);
  if (known !== undefined && isRunning(known)) return { ...known, ready: true };
  const before = statusBefore(pod, container);
  const restarts = Number(before.restartCount) + (objectOf(before.lastState).terminated === undefined ? 0 : 1);
  return { ...before, ready: true, started: true, restartCount: restarts, state: { running: { startedAt: now } } };
}

/** Returns what stays in the status of a container when its state changes. */
function statusBefore(pod: ApiObject, container: JsonObject): JsonObject {
  const { name, image } = container;
  const { restartCount = 0, lastState = {} } = statusOf(pod, "containerStatuses", container) ?? {};
  return { name, image, imageID: "", restartCount, lastState };
}

function completed(now: string): JsonObject {
  return { exitCode: 0, reason: "Completed", startedAt: now, finishedAt: now };
}

function isRunning(status: JsonObject | undefined): boolean {
  return objectOf(status?.state).running !== undefined;
}

function statusOf(pod: ApiObject, field: string, { name }: JsonObject): JsonObject | undefined {
  const statuses = listOf(objectOf(pod.status)[field]).map(objectOf);
  return statuses.find((status) => status.name === name);
}

function containersOf(pod: ApiObject, field = "containers"): JsonObject[] {
  return listOf(objectOf(pod.spec)[field]).map(objectOf);
}

function conditionsOf(pod: ApiObject, ready: boolean, now: string): JsonObject[] {
  const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"];
  const scheduled = listOf(objectOf(pod.status).conditions).filter((each) => objectOf(each).type === "PodScheduled");
  return [
    ...types.map((type) => ({
      type,
      status: ready || !type.endsWith("Ready") ? "True" : "False",
      lastTransitionTime: now,
    })),
    ...scheduled.map(objectOf),
  ];
}
