import { hash } from "node:crypto";
import type { ObjectMeta } from "#kubernetes";
import { epochSeconds } from "../references/field-managers.ts";
import type { LimitExceeded } from "../references/references.ts";
import { equalJson, sharedString } from "../syntax/json.ts";

/**
 * A SecretProviderClassPodStatus, which the driver writes for each Pod that mounts a SecretProviderClass
 * (https://secrets-store-csi-driver.sigs.k8s.io/concepts#secretproviderclasspodstatus).
 */
export interface PodStatusObject {
  readonly metadata?: ObjectMeta;
  readonly status?: {
    readonly secretProviderClassName?: string;
    readonly mounted?: boolean;
    /** The fetched objects and their versions. The provider defines the version text. */
    readonly objects?: readonly { readonly id?: string; readonly version?: string }[];
  };
}

/** One mount of a SecretProviderClass, as the caches store it: the versions are hashed on arrival. */
export interface PodStatus {
  readonly namespace: string;
  /** The name of the SecretProviderClass; "" if the Pod has mounted nothing yet, or its namespace exceeds a limit. */
  readonly className: string;
  /** The uid of the Pod. */
  readonly pod: string;
  /** The generation of the object when that Pod mounted the volume. */
  readonly mountedAs: number;
  /** Whether the driver fetched other versions after the mount: a rotation. */
  readonly rotated: boolean;
  /** The SHA-256 of all ids and versions: 32 bytes, one byte per character. */
  readonly digest: string;
  /** When the driver wrote the status, seconds since the epoch. */
  readonly writtenAt: number;
  /** The resourceVersion of the object. {@link samePodStatus} does not compare it. */
  readonly resourceVersion: number;
  /** The limit that the namespace exceeds with this object. */
  readonly limitExceeded?: Pick<LimitExceeded, "limit" | "count" | "max">;
}

/**
 * Returns the cached form of a SecretProviderClassPodStatus. `known` is the form that the cache has so far; `now` is in seconds
 * since the epoch. Throws an Error without any value if the object is malformed.
 *
 * The generation distinguishes a mount from a rotation. The resource has no status subresource, so each write of other
 * versions raises the generation from 1, its value at the mount. A later Pod of the same name, for example of a StatefulSet,
 * takes over the object and becomes its owner: that is a mount, not a rotation. A process that sees such an object for the
 * first time cannot know this and treats it as a rotation.
 */
export function toPodStatus(
  { metadata = {}, status = {} }: PodStatusObject,
  now: number,
  known?: PodStatus,
): PodStatus {
  const { namespace, generation = 1, ownerReferences } = metadata;
  if (typeof namespace !== "string") throw new Error("SecretProviderClassPodStatus without namespace");
  const { secretProviderClassName: className, mounted, objects } = status;
  const pod = ownerReferences?.[0]?.uid ?? "";
  const mountedAs = known === undefined ? 1 : known.pod === pod ? Math.min(known.mountedAs, generation) : generation;
  return {
    namespace: sharedString(namespace),
    className: mounted === true && typeof className === "string" ? sharedString(className) : "",
    pod,
    mountedAs,
    rotated: generation > mountedAs,
    // Most Pods that mount one class have equal digests.
    digest: sharedString(digestOfVersions(Array.isArray(objects) ? objects : [])),
    writtenAt: statusWrittenAt(metadata, now),
    resourceVersion: Number(metadata.resourceVersion ?? 0),
  };
}

/** Reports whether two states of one object are equal in everything but the resourceVersion. */
export function samePodStatus(a: PodStatus, b: PodStatus): boolean {
  return equalJson(a, { ...b, resourceVersion: a.resourceVersion });
}

/**
 * Reports whether `a` has precedence over `b` for the same class. A rotation has precedence over a mount, then the later
 * status, by the clock of the API server and, within one second, by its order of writes.
 */
export function outranks(a: PodStatus, b: PodStatus): boolean {
  if (a.rotated !== b.rotated) return a.rotated;
  if (a.writtenAt !== b.writtenAt) return a.writtenAt > b.writtenAt;
  return a.resourceVersion > b.resourceVersion;
}

/** Returns the digest of all ids and versions. Their order does not matter. */
function digestOfVersions(objects: readonly { readonly id?: unknown; readonly version?: unknown }[]): string {
  const pairs = objects.map((object) => JSON.stringify([`${object?.id}`, `${object?.version}`])).sort();
  return hash("sha256", `wave.pusher.com/provider-class v1\n${pairs.join("\n")}`, "binary");
}

/** How many seconds the clock of the API server may be ahead of this one. */
const maxAheadSeconds = 3_600;

/**
 * Returns when the status was written, seconds since the epoch: the time in managedFields of the manager that owns the status.
 * A client that writes the object can forge this time. Times in the future are ignored: otherwise they would have precedence
 * over all later rotations and would be recorded on workloads.
 */
function statusWrittenAt({ managedFields, creationTimestamp }: ObjectMeta, now: number): number {
  const ofStatus = (managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1 && "f:status" in fieldsV1);
  const times = ofStatus.map(({ time }) => epochSeconds(time)).filter((at) => at <= now + maxAheadSeconds);
  const last = times.reduce((latest, at) => Math.max(latest, at), 0);
  return last || epochSeconds(creationTimestamp);
}
