import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import { type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import { podOwner } from "../../domain/pods/pod-owner.ts";
import { isDnsSubdomain } from "../../domain/syntax/names.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import { setLatest } from "../../lib/latest-entries.ts";
import type { LeaderParts } from "../leader-context.ts";

/** What the controller and its parts need. */
export interface PendingPodsOptions
  extends LeaderParts<
    "client" | "policy" | "clock" | "log" | "random" | "leadership" | "permits" | "post",
    "workload" | "kinds"
  > {
  /** Returns the names of the missing objects that a workload waits for, by its key; undefined if it does not wait. */
  readonly waitingFor: (key: string) => string | undefined;
}

/** The Pods that are remembered as reported: tenants decide how many Pods are pending. */
const mostRemembered = 2_000;

/** Writes an Event on each pending Pod that names what the Pod waits for. Without it, `kubectl describe pod` shows nothing. */
export class PendingPodReport {
  readonly #options: PendingPodsOptions;
  /** The text that was reported on each Pod, by uid. */
  readonly #reported = new Map<string, string>();

  constructor(options: PendingPodsOptions) {
    this.#options = options;
  }

  /** Reports on one Pod, unless its Event has the same text. */
  report({ metadata }: KubeObject): void {
    const { namespace = "", name, uid = "" } = metadata;
    const workload = this.#ownerOf(metadata);
    if (workload === undefined || !isSchedulingHeld(workload)) return;
    const { waitingFor, post } = this.#options;
    const missing = waitingFor(workloadKey(workload));
    if (missing === undefined) return;
    const message = pendingPodText(missing);
    if (this.#reported.get(uid) === message) return;
    setLatest(this.#reported, uid, message, mostRemembered);
    const regarding = { apiVersion: "v1", kind: "Pod", namespace, name, uid };
    post({ regarding, type: "Warning", reason: "SchedulingDisabled", message, repeats: "perhaps" });
  }

  /** Returns the workload of a Pod from the cache, if the Pod belongs to it and not to one of the same name before it. */
  #ownerOf(metadata: KubeObject["metadata"]): Workload | undefined {
    const { caches } = this.#options;
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    const named = podOwner(metadata, caches.kinds());
    if (owner === undefined || named === undefined || !isDnsSubdomain(named.name)) return undefined;
    const workload = caches.workload(workloadKey(named));
    const isCurrent = workload?.row.replicaSetLabel !== "" || workload.uid === owner.uid;
    return isCurrent ? workload : undefined;
  }
}

/** Returns the text of the Event on a pending Pod. docs/events.md has the same text. */
export function pendingPodText(missing: string): string {
  return `Pod is pending. Waiting for ${missing}. Create what is missing.`;
}
