import { rolloutStrategies } from "../../domain/model/rollout-strategy.ts";
import type { Explanation } from "../cluster/explanation/explanation.ts";
import { sentences } from "../output/sentences.ts";

/** Returns one line about what Wave does with a workload now. */
export function headline(explanation: Explanation): string {
  const { outcome, schedulingHold, hold, strategy } = explanation;
  const { texts } = rolloutStrategies[strategy];
  switch (outcome) {
    case "ignore":
      return "Wave ignores this workload.";
    case "current":
      return currentHeadline(explanation);
    case "firstHash":
      return schedulingHold === "closed"
        ? "Wave records the first hash and schedules the pending Pods."
        : `Wave records the first hash. ${texts.firstHash}`;
    case "recorded":
      return "Wave records the current configuration without a restart.";
    case "roll":
      return `Wave rolls this workload. ${texts.rollout}`;
    case "waiting":
      return schedulingHold === "closed"
        ? "Waiting. New Pods stay pending until nothing is missing."
        : "Waiting. Running Pods are not changed.";
    case "overLimit":
      return "Over a limit. Wave does not roll this workload; running Pods are not changed.";
    case "held":
      return sentences(hold?.message ?? "Held");
    case "cleanUp":
      return "Wave schedules the pending Pods again, without a rollout.";
    case "unknown":
      return "Unknown. Something that the decision depends on could not be read.";
  }
}

/** Returns the headline of a workload with a current hash. Its rollout may still be in progress or have failed. */
function currentHeadline({ state, message }: Explanation): string {
  switch (state) {
    case "current":
      return "Nothing to do. The workload is up to date.";
    case "rolledBack":
      return "Nothing to do. A change was rolled back, and new Pods read the earlier content.";
    case "rolling":
      return sentences("Rollout in progress", message ?? "");
    case "failed":
      return sentences("Rollout failed", message ?? "", "The hash is current");
    case "mixed":
      return sentences("The hash is current, but Pods are mixed", message ?? "");
    case "behind":
      return sentences("The hash is current, but Kubernetes keeps old Pods", message ?? "");
    default:
      return sentences("The hash is current", message ?? "");
  }
}
