import type { Workload } from "../model/workload.ts";
import { withoutMarkedTwice } from "../model/workload-references.ts";
import type { Policy } from "../policy/policy.ts";
import { type LimitExceeded, limits } from "../references/limits.ts";
import { configKey, type Reference, wholeObject } from "../references/references.ts";

/** The references of a workload with the objects that its regular expressions match, or the limit that they exceed. */
interface MatchedReferences {
  readonly references: readonly Reference[];
  readonly limitExceeded: LimitExceeded | undefined;
}

/** Returns the references of a workload. Regular expressions match the objects that exist in its namespace now. */
export function matchedReferences(
  workload: Workload,
  { matchedNames }: Pick<Policy, "matchedNames">,
): MatchedReferences {
  const { references, peer, namespace } = workload;
  if (peer === undefined || peer.patterns.length === 0 || matchedNames === undefined) {
    return { references, limitExceeded: undefined };
  }
  const found: Reference[] = [];
  const objects = new Set(references.map(configKey));
  if (matchedNames === "tooMuchWork")
    return { references, limitExceeded: { limit: "patterns", count: limits.patterns.max + 1 } };
  for (const [index, pattern] of peer.patterns.entries()) {
    const { kind } = pattern;
    const excluded = new Set(peer.excluded[kind]);
    for (const name of matchedNames[index] ?? []) {
      if (excluded.has(name)) continue;
      const reference = wholeObject(kind, namespace, name, pattern);
      objects.add(configKey(reference));
      found.push(reference);
      if (objects.size > limits.objects.max)
        return { references, limitExceeded: { limit: "objects", count: objects.size } };
    }
  }
  if (found.length === 0) return { references, limitExceeded: undefined };
  return { references: withoutMarkedTwice([...references, ...found]), limitExceeded: undefined };
}
