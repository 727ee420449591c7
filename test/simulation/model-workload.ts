import { type Part, partOf } from "./model-hash.ts";
import { type Place, placesOf, type WorkloadSpec } from "./model-reading.ts";
import type { BatchSettings, StoredObject } from "./record.ts";

/** The resources whose objects Wave rolls. */
export const workloadResources: readonly string[] = ["deployments", "statefulsets", "daemonsets", "widgets"];

/** The name of a scheduler that does not exist (docs/webhooks.md). */
export const schedulerOnHold = "wave.pusher.com/invalid";

/** The annotations of Wave on a workload and on its pod template. */
export const annotations = {
  optIn: "wave.pusher.com/update-on-config-change",
  hash: "wave.pusher.com/config-hash",
  pinned: "wave.pusher.com/pinned",
  pinConfig: "wave.pusher.com/pin-config",
  schedulingHold: "wave.pusher.com/scheduling-disabled",
  sharedWith: "wave.pusher.com/shared-with",
} as const;

/** Reports whether a workload is a validator, by its annotation. */
export function isValidator({ kind, metadata }: StoredObject): boolean {
  return kind === "Deployment" && metadata.annotations?.["wave.pusher.com/validator"] === "true";
}

/** Returns the hash in the pod template. */
export function recordedHash(workload: StoredObject | undefined): string | undefined {
  return template(workload)?.metadata?.annotations?.[annotations.hash];
}

/** What Wave recorded beside the hash in the pod template as what the Pods read. */
interface RecordedBeside {
  readonly hash: string;
  /** Whether nothing has shown that the Pods read it. */
  readonly unproven: boolean;
}

/** Returns what is recorded beside the hash in the pod template; undefined if nothing is, or if it belongs to another hash. */
export function recordedBeside(workload: StoredObject | undefined): RecordedBeside | undefined {
  const [of, hash, ...rest] = workload?.metadata.annotations?.["wave.pusher.com/recorded-config"]?.split(" ") ?? [];
  if (hash === undefined || of !== (recordedHash(workload) ?? "")) return undefined;
  return { hash, unproven: rest.some((each) => each.startsWith("unproven=")) };
}

/** Returns the hash of what the Pods read, as Wave recorded it: beside the hash in the pod template, or that hash itself. */
export function readHash(workload: StoredObject | undefined): string | undefined {
  return recordedBeside(workload)?.hash ?? recordedHash(workload);
}

/** Returns the scheduler of the pod template. */
export function schedulerOf(workload: StoredObject | undefined): string | undefined {
  return template(workload)?.spec?.schedulerName;
}

/** Reports whether any part of the scheduling hold is on the workload. */
export function hasSchedulingHold(workload: StoredObject): boolean {
  return (
    schedulerOf(workload) === schedulerOnHold ||
    workload.metadata.annotations?.[annotations.schedulingHold] !== undefined
  );
}

/** Reports whether it opted in by its own annotation or by that of its Namespace `of`, in a namespace that Wave watches. */
export function optedIn(
  workload: StoredObject,
  { namespaces }: Pick<BatchSettings, "namespaces">,
  of?: StoredObject,
): boolean {
  const { annotations: own, namespace = "", deletionTimestamp } = workload.metadata;
  const watched = namespaces?.includes(namespace) ?? true;
  const asked = own?.[annotations.optIn] ?? of?.metadata.annotations?.[annotations.optIn];
  return watched && deletionTimestamp === undefined && asked === "true";
}

function template(workload: StoredObject | undefined): WorkloadSpec["template"] {
  return (workload?.spec as WorkloadSpec | undefined)?.template;
}

/** The flags that decide which references are tracked. */
type Policy = Pick<BatchSettings, "crossNamespace" | "namespaces">;

/** One object that a workload names, and what its Pods see of it in each possible state. */
export interface Named {
  /** `ConfigMap/namespace/name` */
  readonly key: string;
  readonly partOf: (object: StoredObject | undefined) => Part;
}

/** Returns the tracked objects that a workload names, in the order in which the hash includes them. */
export function namedBy(workload: StoredObject, settings: Policy): readonly Named[] {
  const places = Map.groupBy(
    placesOf(workload).filter((place) => counts(place, workload, settings)),
    ({ kind, namespace, name }) => `${kind}/${namespace}/${name}`,
  );
  const own = workload.metadata.namespace ?? "";
  return [...places]
    .sort(([, [a]], [, [b]]) => byName(a, b))
    .map(([key, ofObject]) => {
      const known = new Map<StoredObject | undefined, Part>();
      const granted = (object: StoredObject) =>
        settings.crossNamespace !== "granted" || object.metadata.namespace === own || isSharedWith(object, own);
      return {
        key,
        partOf: (object) => {
          const visible = object !== undefined && granted(object) ? object : undefined;
          const part = known.get(object) ?? partOf(ofObject, visible);
          known.set(object, part);
          return part;
        },
      };
    });
}

/** Reports whether Wave decides nothing about a workload: it is in, or reads from, a namespace that is not watched or cannot be listed. */
export function isOutOfSight(workload: StoredObject, settings: Policy, unlisted: string | undefined): boolean {
  const { namespace = "" } = workload.metadata;
  if (settings.namespaces?.includes(namespace) === false || namespace === unlisted) return true;
  return namedBy(workload, settings).some(({ key }) => key.split("/")[1] === unlisted);
}

/** References that the flags exclude are ignored. An object without a grant is missing. */
function counts({ namespace }: Place, workload: StoredObject, { crossNamespace, namespaces }: Policy): boolean {
  if (namespace === workload.metadata.namespace) return true;
  return crossNamespace !== "none" && (namespaces?.includes(namespace) ?? true);
}

function isSharedWith({ metadata }: StoredObject, namespace: string): boolean {
  const entries = (metadata.annotations?.[annotations.sharedWith] ?? "").split(",").map((entry) => entry.trim());
  return entries.includes("*") || entries.includes(namespace);
}

function byName(a: Place | undefined, b: Place | undefined): number {
  const names = ({ kind, namespace, name }: Place) => [kind, namespace, name].map((text) => Buffer.from(text));
  if (a === undefined || b === undefined) return 0;
  const [one, other] = [names(a), names(b)];
  return one.map((text, i) => Buffer.compare(text, other[i] ?? text)).find((order) => order !== 0) ?? 0;
}
