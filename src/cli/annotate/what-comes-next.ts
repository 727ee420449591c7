import { type Asked, type Explanation, explainWorkload } from "../cluster/explanation.ts";
import { withReason } from "../cluster/kubernetes-reason.ts";

/** What becomes of a workload after a command has changed when it is rolled: a sentence for a person, and one for what is not known. */
export function whatComesNext(asked: Asked): string {
  return [sentence(explainWorkload(asked)), ...asked.gaps.map((gap) => `But ${gap}.`)].join("\n");
}

function sentence({ state, message, kubernetes, hold, reason, pods }: Explanation): string {
  switch (state) {
    case "current":
      return upToDate;
    case "due":
      return "Wave rolls it now.";
    case "held":
      return `It is due, and held (${hold?.reason}): ${message}${untilOf(hold)}.`;
    case "ignored":
      return `Wave does not roll it in any case: it ${reason}.`;
    case "unknown":
      return `What comes next cannot be told: ${message}.`;
    case "rolling":
      // An annotation raises the generation of a Deployment, and for a moment its status is of the one before.
      if (pods !== null && pods.current === pods.total) return upToDate;
      return nothingMore(state, withReason(message ?? reason, kubernetes));
    case "failed":
    case "behind":
    case "waiting":
    case "tooLarge":
      return nothingMore(state, withReason(message ?? reason, kubernetes));
  }
}

function untilOf(hold: Explanation["hold"]): string {
  if (hold === null || hold.until === null || hold.message.includes(hold.until)) return "";
  return `, until ${hold.until} at the latest`;
}

const upToDate = "It is up to date: nothing is to be rolled.";

function nothingMore(state: string, message: string): string {
  return `Nothing more is to be rolled now (${state}): ${message}.`;
}
