import type { Terminal } from "../command/command.ts";
import { exitCodeFor } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import type { ClusterStates } from "./cluster-states.ts";
import { replacing } from "./diff-effects.ts";
import { type DiffForm, renderDiff } from "./diff-output.ts";
import { differencesOf } from "./workload-difference.ts";

/** How a difference is printed. */
export type DiffRequest = Pick<DiffForm, "output">;

/** A comparison of manifests: the states, remarks about the manifests, and the time in milliseconds since the epoch. */
export interface DiffResult extends DiffRequest {
  readonly states: ClusterStates;
  readonly notes: readonly string[];
  readonly now: number;
  /** Completes a warning, for example with the name of the cluster. */
  readonly describeGap?: (gap: string) => string;
}

/** Writes the differences and the failed reads. Returns the exit code. */
export async function renderDifferences(
  terminal: Terminal,
  { states, notes, now, output, describeGap = (gap) => gap }: DiffResult,
): Promise<number> {
  const workloads = differencesOf(states, now);
  for (const gap of states.gaps) terminal.writeError(warningLine(describeGap(gap)));
  const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
  terminal.write(await renderDiff({ workloads, notes: [...states.unlisted, ...notes] }, { output, paint }));
  const unseen = [...states.gaps, ...states.unlisted];
  return exitCodeFor({
    no: workloads.some(({ effect }) => replacing.has(effect)),
    complete: unseen.length === 0 && workloads.every(({ effect }) => effect !== "unknown"),
  });
}
