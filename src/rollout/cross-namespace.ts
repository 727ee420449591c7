import { sharedWith } from "./annotations.ts";
import { isSharedWith } from "./digest.ts";
import type { Policy } from "./policy.ts";
import type { ConfigName, Reference } from "./references.ts";
import type { Lookup } from "./view.ts";
import type { Warning } from "./warning.ts";
import type { Workload } from "./workload.ts";

/** The references of a workload that count, and a warning for each object of another namespace that does not. */
export interface Granted {
  readonly references: readonly Reference[];
  readonly warnings: readonly Warning[];
}

/**
 * Leaves out what a workload may not learn about. A reference into another namespace would tell its author when an
 * object changes that they may not read, so its owner must have granted it, unless the policy says otherwise.
 */
export function grantedReferences(workload: Workload, lookup: Lookup, policy: Policy): Granted {
  const references: Reference[] = [];
  const refused = new Set<string>();
  for (const reference of workload.references) {
    const why = refusal(workload, reference, lookup, policy);
    if (why === undefined) references.push(reference);
    else refused.add(`${reference.kind} "${reference.namespace}/${reference.name}" is not counted: ${why}`);
  }
  const warnings = [...refused].map((message): Warning => ({ reason: "CrossNamespaceRefused", message }));
  return { references, warnings };
}

/** Every object that must be looked up to plan a workload, each once: a caller that reads live reads these. */
export function objectsToRead(workload: Workload, policy: Policy): readonly ConfigName[] {
  const readable = workload.references.filter((reference) => forbidden(workload, reference, policy) === undefined);
  const byName = new Map(
    readable.map(({ kind, namespace, name }) => [`${kind}/${namespace}/${name}`, { kind, namespace, name }]),
  );
  return [...byName.values()];
}

function refusal(workload: Workload, reference: Reference, lookup: Lookup, policy: Policy): string | undefined {
  const why = forbidden(workload, reference, policy);
  if (why !== undefined || reference.namespace === workload.namespace || policy.crossNamespace === "any") return why;
  const config = lookup(reference.kind, reference.namespace, reference.name);
  if (config !== undefined && isSharedWith(config, workload.namespace)) return undefined;
  // The same text whether the object exists or not: else this would tell who may not know.
  return `it does not exist or does not carry the annotation ${sharedWith}: "${workload.namespace}"`;
}

/** Why the policy alone refuses a reference, whatever the object says. */
function forbidden({ namespace }: Workload, reference: Reference, policy: Policy): string | undefined {
  if (reference.namespace === namespace) return undefined;
  if (policy.crossNamespace === "none") return "references into other namespaces are off (--cross-namespace=none)";
  if (policy.namespaces !== undefined && !policy.namespaces.includes(reference.namespace)) {
    return `Wave does not watch namespace "${reference.namespace}" (--namespaces)`;
  }
  return undefined;
}
