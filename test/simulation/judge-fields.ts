import { isDeepStrictEqual } from "node:util";
import { annotations } from "./model-workload.ts";
import type { StoredObject } from "./record.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The annotations of a workload that Wave writes, and the annotation in which the API server counts templates. */
const ours = [
  annotations.schedulingHold,
  "wave.pusher.com/recorded-config",
  "wave.pusher.com/config-digests",
  "wave.pusher.com/consecutive-rollouts",
  "wave.pusher.com/rolled-incomplete",
  "wave.pusher.com/cause",
  "wave.pusher.com/rejected-configmaps",
  "wave.pusher.com/previous-pins",
  "wave.pusher.com/config-differed",
  "wave.pusher.com/state",
  "wave.pusher.com/failed-alert",
  "deprecated.daemonset.template.generation",
];

/** The time of a rollout that replaces mixed Pods. */
const rolledAt = "wave.pusher.com/rolled-at";

/**
 * Returns the first difference between two states of a workload outside of the fields that Wave may write (the hash and the
 * scheduler of the pod template, and the annotations of Wave) and the fields of the API server; undefined if there is none.
 */
export function differsElsewhere(before: StoredObject, after: StoredObject): string | undefined {
  const [a, b] = [foreign(before), foreign(after)];
  return Object.keys({ ...a, ...b }).find((field) => !isDeepStrictEqual(a[field], b[field]));
}

function foreign(object: StoredObject): Fields {
  const { metadata, spec, status: _status, ...rest } = object;
  const { template, ...workload } = fields(spec);
  const { metadata: templateMetadata, spec: podSpec, ...templateRest } = fields(template);
  const { schedulerName: _scheduler, ...pod } = fields(podSpec);
  const { resourceVersion: _version, generation: _generation, ...own } = metadata;
  return {
    ...rest,
    metadata: withoutAnnotations(own, ours),
    spec: workload,
    template: templateRest,
    "template.metadata": withoutAnnotations(fields(templateMetadata), [annotations.hash, annotations.pinned, rolledAt]),
    "template.spec": pod,
  };
}

function withoutAnnotations(metadata: Fields, names: readonly string[]): Fields {
  const { annotations: all, managedFields: _managed, ...rest } = metadata;
  const left = Object.entries(fields(all)).filter(([name]) => !names.includes(name));
  return { ...rest, annotations: Object.fromEntries(left) };
}

function fields(value: unknown): Fields {
  return (value ?? {}) as Fields;
}
