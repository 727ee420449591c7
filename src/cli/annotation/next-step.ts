import { type Explanation, explainWorkload } from "../cluster/explanation/explanation.ts";
import { startsNow, type WavePresence } from "../cluster/running-wave/wave-presence.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { withKubernetesReason } from "../cluster/states/kubernetes-reason.ts";
import { sentences } from "../output/sentences.ts";

/** Returns what happens to a workload after a command changed when it rolls: one line, and one line for each failed read. */
export function nextStep(snapshot: WorkloadSnapshot): string {
  return [
    effectOf(explainWorkload(snapshot), snapshot.policy.presence),
    ...snapshot.gaps.map((gap) => sentences(`Incomplete: ${gap}`)),
  ].join("\n");
}

function effectOf(
  { state, message, kubernetes, hold, reason, pods, keptPods }: Explanation,
  presence: WavePresence | undefined,
): string {
  switch (state) {
    case "current":
      return upToDate;
    case "due":
      return startsNow(
        presence,
        keptPods === null ? "Wave rolls the workload now." : `Wave updates the hash now. ${keptPods}`,
        "A rollout is due.",
      );
    case "held":
      return sentences(`A rollout is due, but held (${hold?.reason})`, message ?? "", latestEnd(hold));
    case "ignored":
      return sentences("Wave ignores this workload", reason);
    case "unknown":
      return sentences("The effect is unknown", message ?? "");
    case "rolling":
      // An annotation raises the generation of a Deployment, so for a moment its status is out of date.
      if (pods !== null && pods.current === pods.total) return upToDate;
      return noRollout(state, withKubernetesReason(message ?? reason, kubernetes));
    case "failed":
    case "stuck":
    case "rolledBack":
    case "unproven":
    case "behind":
    case "waiting":
    case "overLimit":
      return noRollout(state, withKubernetesReason(message ?? reason, kubernetes));
  }
}

function latestEnd(hold: Explanation["hold"]): string {
  if (hold === null || hold.until === null || hold.message.includes(hold.until)) return "";
  return `The hold ends at ${hold.until} or earlier`;
}

const upToDate = "The workload is up to date. No rollout is due.";

function noRollout(state: string, message: string): string {
  return sentences(`No rollout starts now. State: ${state}`, message);
}
