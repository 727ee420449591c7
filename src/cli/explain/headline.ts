import { rolloutStrategies } from "../../domain/model/rollout-strategy.ts";
import type { Explanation } from "../cluster/explanation/explanation.ts";
import { sentences } from "../output/sentences.ts";

/** Returns one line about what Wave does with a workload now. */
export function headline(explanation: Explanation): string {
  const { outcome, schedulingHold, hold, strategy, keptPods } = explanation;
  const { texts, podsCarryHash } = rolloutStrategies[strategy];
  switch (outcome) {
    case "ignore":
      return "Wave ignores this workload.";
    case "current":
      return currentHeadline(explanation);
    case "firstHash":
      return schedulingHold === "closed"
        ? "Wave records the first hash and schedules the pending Pods."
        : `Wave records the first hash. ${(podsCarryHash ? keptPods : null) ?? texts.firstHash}`;
    case "recorded":
      return "Wave records the current configuration without a restart.";
    case "roll":
      return keptPods === null
        ? `Wave rolls this workload. ${texts.rollout}`
        : `Wave updates the hash, but no Pod is replaced yet. ${keptPods}`;
    case "waiting":
      return schedulingHold === "closed"
        ? "Waiting. New Pods stay pending until nothing is missing."
        : "Waiting. Running Pods are not changed.";
    case "overLimit":
      return "Over a limit. Wave does not roll this workload; running Pods are not changed.";
    case "held":
      return sentences(hold?.message ?? "Held");
    case "cleanUp":
      return cleanUpTexts[schedulingHold];
    case "unknown":
      return "Unknown. Something that the decision depends on could not be read.";
  }
}

/** What Wave removes without a rollout: a scheduling hold, what is left of one, or the pause of another controller. */
const cleanUpTexts: Readonly<Record<Explanation["schedulingHold"], string>> = {
  closed: "Wave schedules the pending Pods again, without a rollout.",
  left: "Wave removes the annotation of a scheduling hold, without a rollout.",
  open: "Wave resumes the Deployment, which another controller left paused.",
};

/** Returns the headline of a workload with a current hash. Its rollout may still be in progress or have failed. */
function currentHeadline({ state, message }: Explanation): string {
  switch (state) {
    case "current":
      return "Nothing to do. The workload is up to date.";
    case "unproven":
      return message ?? "";
    case "rolledBack":
      return "Nothing to do. A change was rolled back, and new Pods read the earlier content.";
    case "rolling":
      return sentences("Rollout in progress", message ?? "");
    case "failed":
      return sentences("Rollout failed", message ?? "", "The hash is current");
    case "stuck":
      return sentences("Rollout stuck", message ?? "", "The hash is current");
    case "behind":
      return sentences("The hash is current, but Kubernetes keeps old Pods", message ?? "");
    default:
      return sentences("The hash is current", message ?? "");
  }
}
