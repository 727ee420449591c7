import { expect, it } from "vitest";
import type { Pod } from "#kubernetes";
import { earliest, podTimes } from "./pod-state.ts";

const second = 1_800_000_000;
const at = (seconds: number) => new Date((second + seconds) * 1000).toISOString();
const scheduled = { type: "PodScheduled", status: "True", lastTransitionTime: at(20) } as const;
const envFrom = [{ secretRef: { name: "login" } }];
const running = (name: string, seconds: number) => ({ name, state: { running: { startedAt: at(seconds) } } });

function pod(spec: object, status: object, metadata: object = {}): Pod {
  return {
    metadata: { namespace: "default", creationTimestamp: at(0), ...metadata },
    spec: { containers: [], ...spec },
    status,
  } as Pod;
}

it("reads nothing before it has a node, by the clock of the API server", () => {
  const conditions = [scheduled];
  const scheduledAt = (...args: Parameters<typeof pod>) => podTimes(pod(...args)).scheduledAt;
  expect(scheduledAt({}, {})).toBe(Number.POSITIVE_INFINITY);
  expect(scheduledAt({ nodeName: "a" }, { conditions })).toBe(second + 20);
  expect(scheduledAt({ nodeName: "a" }, {})).toBe(second);
  // The kubelet wrote the time.
  const managedFields = [{ manager: "kubectl", fieldsV1: { "f:spec": { "f:nodeName": {} } } }];
  expect(scheduledAt({ nodeName: "a" }, { conditions }, { managedFields })).toBe(second);
});

it("reads variables when the first of the containers that have any starts", () => {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "a" } } }];
  const volumes = [{ name: "files", configMap: { name: "page" } }];
  const volumeMounts = [{ name: "files", mountPath: "/files" }];
  const spec = {
    volumes,
    initContainers: [{ name: "init", env }],
    containers: [{ name: "app", envFrom }, { name: "files", volumeMounts }, { name: "other" }],
  };
  const ended = { name: "init", state: { terminated: { startedAt: at(30), finishedAt: at(31) } } };
  const others = [running("files", 10), running("other", 10)];
  const envAt = (init: readonly object[], app: readonly object[]) =>
    podTimes(pod(spec, { initContainerStatuses: init, containerStatuses: [...app, ...others] })).envAt;
  expect(envAt([ended], [running("app", 40)])).toBe(second + 30);
  expect(envAt([running("init", 50)], [running("app", 40)])).toBe(second + 40);
  expect(envAt([], [running("app", 40)])).toBe(0);
  expect(envAt([ended], [{ name: "app", state: { waiting: { reason: "CreateContainerConfigError" } } }])).toBe(0);
  expect(podTimes(pod({ containers: [{ name: "other" }] }, {})).envAt).toBe(Number.POSITIVE_INFINITY);
});

it("are as early as the earliest of all Pods", () => {
  const [a, b] = [
    { scheduledAt: 1, envAt: 5 },
    { scheduledAt: 2, envAt: 4 },
  ];
  expect(earliest(earliest(undefined, a), b)).toEqual({ scheduledAt: 1, envAt: 4 });
});
