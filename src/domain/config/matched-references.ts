import { wholeObject } from "../compatibility/directive.ts";
import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { type LimitExceeded, limits } from "../references/limits.ts";
import { configKey, type Reference } from "../references/references.ts";

/** The references of a workload with those to what its regular expressions match, or that they are too much. */
export interface Matched {
  readonly references: readonly Reference[];
  readonly limitExceeded: LimitExceeded | undefined;
}

/** What a workload refers to, also by regular expressions: of these what exists in its namespace now, as the policy knows it. */
export function matchedReferences(workload: Workload, { namesMatching }: Pick<Policy, "namesMatching">): Matched {
  const { references, foreign, namespace } = workload;
  if (foreign === undefined || foreign.patterns.length === 0 || namesMatching === undefined) {
    return { references, limitExceeded: undefined };
  }
  const found: Reference[] = [];
  const objects = new Set(references.map(configKey));
  const matched = namesMatching(namespace, foreign.patterns);
  if (matched === undefined)
    return { references, limitExceeded: { budget: "patterns", count: limits.patterns.most + 1 } };
  for (const [index, { kind, path }] of foreign.patterns.entries()) {
    const excluded = new Set(foreign.excluded[kind]);
    for (const name of matched[index] ?? []) {
      if (excluded.has(name)) continue;
      const reference = wholeObject(kind, namespace, name, path);
      objects.add(configKey(reference));
      found.push(reference);
      if (objects.size > limits.objects.most)
        return { references, limitExceeded: { budget: "objects", count: objects.size } };
    }
  }
  return { references: found.length === 0 ? references : [...references, ...found], limitExceeded: undefined };
}
