import { sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { diffFlags } from "./diff-flags.ts";
import { diffEffects } from "./diff-effects.ts";

/** What `wave diff --help` prints. */
export function diffHelp(): string {
  return renderHelp(
    {
      usage: "wave diff -f FILE [flags]",
      summary:
        "Tells which workloads of the cluster would roll if these manifests were applied, through which keys, and in which " +
        "order. It decides as Wave does, from the cluster as it is with the manifests laid over it; it reads with your own " +
        "permissions, writes nothing, and never shows a value.",
      examples: [
        ["helm template shop ./shop -n shop | wave diff -f - -n shop", "what an upgrade of a release would roll"],
        ["kustomize build overlays/prod | wave diff -f - -o markdown", "for a pull request"],
        ["wave diff -f manifests/ -f extra.yaml", "a folder and a file"],
      ],
      words: { heading: "What becomes of a workload", meanings: diffEffects },
      notes: [
        "What the API server fills in for new fields, and what admission changes, is not known here. Nothing is removed that the manifests do not have: only keys and fields that were applied before, as kubectl apply does.",
      ],
      exits: { 0: "no Pods would be replaced", 1: "some would", ...sharedExitCodes },
    },
    diffFlags,
  );
}
