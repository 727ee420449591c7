import { hash } from "node:crypto";
import type { ObjectMeta } from "kubernetes-types/meta/v1.d.ts";
import { secondsOf } from "../references/field-managers.ts";
import type { LimitExceeded } from "../references/limits.ts";
import { sharedString } from "../syntax/shared-string.ts";

/**
 * What the driver writes of each Pod that mounts a SecretProviderClass
 * (https://secrets-store-csi-driver.sigs.k8s.io/concepts#secretproviderclasspodstatus).
 */
export interface PodStatusObject {
  readonly metadata?: ObjectMeta;
  readonly status?: {
    readonly secretProviderClassName?: string;
    readonly mounted?: boolean;
    /** What was fetched, and which version of it, which is the provider's own word. */
    readonly objects?: readonly { readonly id?: string; readonly version?: string }[];
  };
}

/** What one Pod's mount of a SecretProviderClass tells of it: what caches keep. The versions are digested on arrival. */
export interface PodStatus {
  readonly namespace: string;
  /** Of the SecretProviderClass; "" where the Pod has mounted nothing yet, or its namespace has no room. */
  readonly className: string;
  /** The uid of the Pod. */
  readonly pod: string;
  /** The generation that it had when that Pod mounted it. */
  readonly mountedAs: number;
  /** Whether what the Pod has was fetched anew since it was mounted: a rotation. */
  readonly rotated: boolean;
  /** The SHA-256 over all ids and versions, 32 bytes, one byte a character. */
  readonly digest: string;
  /** When that was written, seconds since the epoch. */
  readonly writtenAt: number;
  /** Of the object. Not compared. */
  readonly resourceVersion: number;
  /** The budget that its namespace exceeds with it. */
  readonly limitExceeded?: Pick<LimitExceeded, "budget" | "count">;
}

/**
 * The slim form of a SecretProviderClassPodStatus; `held` is what is known of it so far.
 *
 * A mount and a rotation are told apart by the generation. The resource has no status subresource, so each write of
 * other versions raises it from 1, which it has when the Pod mounts the volume. A later Pod of the same name, as of a
 * StatefulSet, takes the object over and becomes its owner; that is a mount, and no rotation. Who sees such an object
 * for the first time cannot know that, and takes it for a rotation.
 *
 * Throws an Error without any value where it is malformed. `now` in seconds since the epoch.
 */
export function toPodStatus({ metadata = {}, status = {} }: PodStatusObject, now: number, held?: PodStatus): PodStatus {
  const { namespace, generation = 1, ownerReferences } = metadata;
  if (typeof namespace !== "string") throw new Error("SecretProviderClassPodStatus without namespace");
  const { secretProviderClassName: className, mounted, objects } = status;
  const pod = ownerReferences?.[0]?.uid ?? "";
  const mountedAs = held === undefined ? 1 : held.pod === pod ? Math.min(held.mountedAs, generation) : generation;
  return {
    namespace: sharedString(namespace),
    className: mounted === true && typeof className === "string" ? sharedString(className) : "",
    pod,
    mountedAs,
    rotated: generation > mountedAs,
    // Most Pods that mount a class have the same.
    digest: sharedString(digestOfVersions(Array.isArray(objects) ? objects : [])),
    writtenAt: statusWrittenAt(metadata, now),
    resourceVersion: Number(metadata.resourceVersion ?? 0),
  };
}

/** Whether nothing that matters differs between two states of one. */
export function samePodStatus(a: PodStatus, b: PodStatus): boolean {
  return (
    a.className === b.className &&
    a.pod === b.pod &&
    a.mountedAs === b.mountedAs &&
    a.rotated === b.rotated &&
    a.digest === b.digest &&
    a.writtenAt === b.writtenAt &&
    a.limitExceeded?.count === b.limitExceeded?.count
  );
}

/**
 * Whether what `a` tells is to be preferred to what `b` tells of the same class: a rotation to what a Pod happened to mount,
 * then the later one, by the API server's clock and, within a second, by its order of writes.
 */
export function outranks(a: PodStatus, b: PodStatus): boolean {
  if (a.rotated !== b.rotated) return a.rotated;
  if (a.writtenAt !== b.writtenAt) return a.writtenAt > b.writtenAt;
  return a.resourceVersion > b.resourceVersion;
}

/** Over the pairs, in whatever order they come. */
function digestOfVersions(objects: readonly { readonly id?: unknown; readonly version?: unknown }[]): string {
  const pairs = objects.map((object) => JSON.stringify([`${object?.id}`, `${object?.version}`])).sort();
  return hash("sha256", `wave.pusher.com/provider-class v1\n${pairs.join("\n")}`, "binary");
}

/** How far clocks may be apart, in seconds. */
const mostAhead = 3_600;

/**
 * The entry of a field manager has the time of its last change: of whoever owns the status, not of who labels it. Whoever writes the
 * object may say another time; one that is yet to come would be preferred to every rotation from then on, and be noted on workloads.
 */
function statusWrittenAt({ managedFields, creationTimestamp }: ObjectMeta, now: number): number {
  const ofStatus = (managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1 && "f:status" in fieldsV1);
  const times = ofStatus.map(({ time }) => secondsOf(time)).filter((at) => at <= now + mostAhead);
  const last = times.reduce((latest, at) => Math.max(latest, at), 0);
  return last || secondsOf(creationTimestamp);
}
