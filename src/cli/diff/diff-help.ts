import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { diffEffects } from "./diff-effects.ts";
import { diffFlags } from "./diff-flags.ts";

/** Returns the help of `wave diff`. */
export function diffHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave diff -f FILE [flags]",
      description:
        "Preview which workloads would roll if manifests were applied, through which keys, and in which order.",
      examples: [
        ["helm template shop ./shop -n shop | wave diff -f - -n shop", "before an upgrade of a release"],
        ["kustomize build overlays/prod | wave diff -f - -o markdown", "as a comment on a pull request"],
        ["wave diff -f manifests/ -f extra.yaml", "a folder and a file"],
      ],
      usualFlags: ["filename", "namespace", "output"],
      details: [
        "The preview overlays the manifests on the current cluster and decides as Wave does. It uses your permissions, writes nothing, and prints no values.",
        "Changes by admission webhooks and defaults for new fields are not included.",
        "Objects that are not in the manifests stay. As in kubectl apply, only keys and fields that were applied before and are no longer in the manifests are removed.",
      ],
      words: { heading: "Effects", meanings: diffEffects },
      exits: {
        [exitCodes.done]: "No Pods would be replaced.",
        [exitCodes.no]: "Some Pods would be replaced.",
        ...sharedExitCodes,
      },
    },
    diffFlags,
    scope,
  );
}
