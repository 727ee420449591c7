/** The progress of the rollout of a workload, from its status. */
export type Progress =
  /** A rollout replaces no Pod: there are no Pods, or it does not start by itself (paused, `OnDelete`, a partition of all Pods). */
  | { readonly state: "idle" }
  /** Every Pod that the rollout replaces is replaced. */
  | {
      readonly state: "complete";
      /** When the rollout completed, in seconds since the epoch; undefined if the status does not show it. */
      readonly since: number | undefined;
    }
  | {
      readonly state: "progressing";
      /** A number that changes when a Pod is replaced or becomes available. */
      readonly step: number;
      /** The number of available Pods, including old ones. */
      readonly available: number;
      /** Whether the rollout of an earlier generation is complete, and the status does not show the current generation yet. */
      readonly wasComplete?: true;
      /** Whether the rollout was complete, and has lost Pods since. Default: the status does not show it. */
      readonly lostPods?: boolean;
      /** Since when it has had too few available Pods, in seconds since the epoch. Default: it has enough, or the status does not show it. */
      readonly unavailableSince?: number;
      /** The Pod that Kubernetes waits for before it replaces other Pods in order; absent if it does not wait, or it is not known. */
      readonly waitsFor?: string;
      /** Whether the controller of the workload has its own deadline and knows about intended pauses. Wave then has no deadline. */
      readonly selfTimed?: boolean;
    }
  | {
      readonly state: "failed";
      /** The word in the status that reports the failure; undefined: `ProgressDeadlineExceeded`. */
      readonly statusWord?: string;
    };

/** Reports whether a workload is complete now, so that a rollout that fails after this moment shows that the change is bad. */
export function isComplete({ progress }: { readonly progress: Progress }): boolean {
  return progress.state === "complete" || (progress.state === "progressing" && progress.wasComplete === true);
}
