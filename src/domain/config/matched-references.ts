import { wholeObject } from "../compatibility/directive.ts";
import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { budgets, type Excess } from "../references/limits.ts";
import { configKey, type Reference } from "../references/references.ts";

/** The references of a workload with those to what its regular expressions match, or that they are too much. */
export interface Matched {
  readonly references: readonly Reference[];
  readonly excess: Excess | undefined;
}

/** What a workload refers to, also by regular expressions: of these what exists in its namespace now, as the policy knows it. */
export function matchedReferences(workload: Workload, { namesMatching }: Pick<Policy, "namesMatching">): Matched {
  const { references, foreign, namespace } = workload;
  if (foreign === undefined || foreign.patterns.length === 0 || namesMatching === undefined) {
    return { references, excess: undefined };
  }
  const found: Reference[] = [];
  const objects = new Set(references.map(configKey));
  const matched = namesMatching(namespace, foreign.patterns);
  if (matched === undefined) return { references, excess: { budget: "patterns", count: budgets.patterns.most + 1 } };
  for (const [index, { kind, path }] of foreign.patterns.entries()) {
    const excluded = new Set(foreign.excluded[kind]);
    for (const name of matched[index] ?? []) {
      if (excluded.has(name)) continue;
      const reference = wholeObject(kind, namespace, name, path);
      objects.add(configKey(reference));
      found.push(reference);
      if (objects.size > budgets.objects.most)
        return { references, excess: { budget: "objects", count: objects.size } };
    }
  }
  return { references: found.length === 0 ? references : [...references, ...found], excess: undefined };
}
