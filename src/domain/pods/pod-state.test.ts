import { describe, expect, it } from "vitest";
import type { Container, ContainerStatus, Pod } from "#kubernetes";
import { observePod, type ReadConfig } from "./observed-pod.ts";
import type { HashPlace } from "./pod-owner.ts";
import { configStateOf, type ReadHistory, readMargins } from "./pod-state.ts";
import type { Span } from "./spans.ts";

const start = Date.parse("2026-01-01T12:00:00Z");
const minutes = (count: number) => start + count * 60_000;
const at = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** The configuration differed from minute 10 to 20. */
const takenBack: readonly Span[] = [{ from: minutes(10), to: minutes(20) }];
const config: ReadConfig = { includes: ({ name }) => name === "page", byEachContainer: false };
const place: HashPlace = { hashAnnotation: "wave.pusher.com/config-hash", templateSource: undefined };
const byEnv: Partial<Container> = { envFrom: [{ configMapRef: { name: "page" } }] };
const byFiles: Partial<Container> = { volumeMounts: [{ name: "page", mountPath: "/page" }] };

interface PodOptions {
  readonly reads?: Partial<Container>;
  /** The minute in which its container last started; undefined: it waits. */
  readonly started?: number | undefined;
  readonly created?: number;
  readonly hash?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly init?: { readonly reads?: Partial<Container>; readonly started: number };
  readonly status?: Partial<ContainerStatus>;
  /** The name of the object that its volume shows. */
  readonly mounted?: string;
}

function pod(options: PodOptions): Pod {
  const { reads = byEnv, created = 0, hash = "new", annotations = {}, init, mounted = "page" } = options;
  const startedAt = "started" in options ? options.started : created;
  const running = (minute: number) => ({ running: { startedAt: at(minutes(minute)) } });
  const base = { image: "app", imageID: "", ready: true, restartCount: 0 };
  const state = startedAt === undefined ? { waiting: { reason: "CrashLoopBackOff" } } : running(startedAt);
  return {
    metadata: {
      namespace: "shop",
      name: "web-0",
      uid: "1",
      creationTimestamp: at(minutes(created)),
      annotations: { "wave.pusher.com/config-hash": hash, ...annotations },
    },
    spec: {
      volumes: [{ name: "page", configMap: { name: mounted } }],
      initContainers: init ? [{ name: "init", image: "app", ...init.reads }] : [],
      containers: [{ name: "app", image: "app", ...reads }],
    },
    status: {
      startTime: at(minutes(created)),
      conditions: [{ type: "PodReadyToStartContainers", status: "True", lastTransitionTime: at(minutes(created)) }],
      initContainerStatuses: init
        ? [{ ...base, name: "init", state: { terminated: { exitCode: 0, startedAt: at(minutes(init.started)) } } }]
        : [],
      containerStatuses: [{ ...base, name: "app", state, ...options.status }],
    },
  };
}

function stateOf(options: PodOptions, history: Partial<ReadHistory> = {}, read = config) {
  const full = { hash: "new", spans: takenBack, changedAt: minutes(20), rolledAt: 0, ...history };
  return configStateOf(observePod(pod(options), read, place), full);
}

describe("A Pod after a change was reverted", () => {
  it.each([
    ["started before the change", { started: 5 }, "current"],
    ["started in between", { started: 15 }, "mixed"],
    ["started after the change was reverted", { started: 25 }, "current"],
    ["has another container that waits", { started: undefined }, "current"],
    ["reads nothing", { reads: {}, started: 15 }, "current"],
    ["has an init container that ran in between", { init: { reads: byEnv, started: 12 }, started: 25 }, "mixed"],
    ["has an init container that read nothing in between", { init: { started: 12 }, started: 25 }, "current"],
    ["mounts files and started in between", { reads: byFiles, started: 15, created: 1 }, "mixed"],
    ["was set up in between and started within two minutes", { reads: byFiles, created: 15, started: 22 }, "mixed"],
    [
      "was set up in between and started when files were new",
      { reads: byFiles, created: 15, started: 22.1 },
      "current",
    ],
    ["was set up after the change was reverted", { reads: byFiles, created: 20.2, started: 20.3 }, "current"],
    ["restarted after the margin of files", { reads: byFiles, created: 1, started: 23 }, "current"],
    ["restarted within the margin of files", { reads: byFiles, created: 1, started: 21.9 }, "mixed"],
    ["read the environment after the margin of clocks", { started: 20.2 }, "current"],
    ["mounts another object", { reads: byFiles, mounted: "other", started: 15 }, "current"],
  ] as const)("is right if it %s", (_what, options, expected) => {
    expect(stateOf(options)).toBe(expected);
  });

  it("is mixed within the margin of clocks on both sides", () => {
    const margin = readMargins.clocksMs / 60_000;
    expect(stateOf({ started: 10 - margin })).toBe("mixed");
    expect(stateOf({ started: 20 + margin })).toBe("mixed");
    expect(stateOf({ started: 10 - 2 * margin })).toBe("current");
  });

  it("is current if it reads pinned copies, and mixed if no policy pointed it at them", () => {
    const annotations = { "wave.pusher.com/pinned": "page=page-0123456789" };
    const copy = { envFrom: [{ configMapRef: { name: "page-0123456789" } }] };
    expect(stateOf({ reads: copy, annotations, started: 15 })).toBe("current");
    expect(stateOf({ annotations, started: 15 })).toBe("mixed");
  });

  it("is mixed if any container started in between and the workload names objects that its Pods read by themselves", () => {
    expect(stateOf({ reads: {}, started: 15 }, {}, { ...config, byEachContainer: true })).toBe("mixed");
  });

  it("is current if it was created after the rollout that took the change back, and mixed if it is older", () => {
    const rolledAt = minutes(20) + 2_000;
    expect(stateOf({ created: 20.05, started: 20.06 })).toBe("mixed");
    expect(stateOf({ created: 20.05, started: 20.06 }, { rolledAt })).toBe("current");
    expect(stateOf({ created: 19, started: 20.01 }, { rolledAt })).toBe("mixed");
    const later = [{ from: rolledAt + 1_000, to: rolledAt + 3_000 }];
    expect(stateOf({ created: 20.07, started: 20.07 }, { rolledAt, spans: later })).toBe("mixed");
  });

  it("is old with the hash of another rollout, unless all its containers started after the last change", () => {
    expect(stateOf({ hash: "before", started: 15 })).toBe("old");
    expect(stateOf({ hash: "before", started: 25 })).toBe("current");
  });
});

describe("A Pod while a change is held", () => {
  const held = { spans: [{ from: minutes(10), to: undefined }], changedAt: minutes(15) };

  it.each([
    ["started before the change", { started: 5 }, "old"],
    ["started between two changes", { started: 12 }, "mixed"],
    ["started after the last change", { started: 16 }, "current"],
    ["has an old init container and a new container", { init: { reads: byEnv, started: 5 }, started: 16 }, "mixed"],
    ["waits for its containers", { started: undefined }, "current"],
  ] as const)("is right if it %s", (_what, options, expected) => {
    expect(stateOf(options, held)).toBe(expected);
  });

  it("is old if it reads pinned copies, whenever it started", () => {
    const annotations = { "wave.pusher.com/pinned": "page=page-0123456789" };
    const copy = { envFrom: [{ configMapRef: { name: "page-0123456789" } }] };
    expect(stateOf({ reads: copy, annotations, started: 16 }, held)).toBe("old");
  });

  it("may have read anything if the time of the last change is unknown", () => {
    expect(stateOf({ started: 16 }, { ...held, changedAt: undefined })).toBe("mixed");
  });
});

describe("A Pod that is not ready", () => {
  const observed = (status: Partial<ContainerStatus>) => observePod(pod({ status }), config, place);

  it("names the reason of its container", () => {
    const waiting = (reason: string) => ({ state: { waiting: { reason } } });
    expect(observed(waiting("ImagePullBackOff")).notReadyReason).toBe("ImagePullBackOff");
    expect(observed(waiting("CrashLoopBackOff")).notReadyReason).toBe("CrashLoopBackOff");
    const killed = { lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } };
    expect(observed({ ...waiting("CrashLoopBackOff"), ...killed }).notReadyReason).toBe("OOMKilled");
    expect(observed({ state: { terminated: { exitCode: 1, reason: "Error" } } }).notReadyReason).toBe("Error");
    expect(observed(waiting("any text: of a strange kubelet")).notReadyReason).toBeUndefined();
  });

  it("has the restarts of the container with the most", () => {
    const lastState = { terminated: { exitCode: 78 } };
    expect(observed({ restartCount: 4, lastState }).restarts).toEqual({ container: "app", count: 4, exitCode: 78 });
  });
});
