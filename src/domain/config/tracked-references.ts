import { type WorkloadReferences, withoutMarkedTwice } from "../model/workload-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import { ignoresKind } from "../policy/policy.ts";
import type { Rules } from "../policy/rules.ts";
import { sharedWith } from "../references/annotations.ts";
import {
  type ConfigName,
  configKey,
  isStored,
  limits,
  type Reference,
  type StoredName,
  wholeObject,
} from "../references/references.ts";
import { crossNamespaceTexts, type Warning } from "../references/warning.ts";
import { formatList, isDnsSubdomain, isListed } from "../syntax/names.ts";
import { type Config, isSharedWith } from "./digest.ts";
import { describeObject, type Lookup } from "./view-of-references.ts";

/**
 * Why an object is not tracked. "ignored": its annotation says so. "excluded": the workload or its Namespace excludes it.
 * "unmarked": the workload reads only marked objects. "unselected": flags exclude it. "copy": Wave stored it as a pinned copy.
 */
export type UntrackedReason = "ignored" | "excluded" | "unmarked" | "unselected" | "copy";

/** The references of a workload whose objects are part of its hash. */
export interface TrackedReferences extends GrantedReferences {
  /** The tracked references. */
  readonly references: readonly Reference[];
  /** Tracked and untracked references. */
  readonly all: readonly Reference[];
  /** Why objects are not tracked, by the key of the object. */
  readonly untracked: ReadonlyMap<string, UntrackedReason>;
}

/**
 * Returns the granted references without ignored, excluded, unmarked and unselected objects. Untracked objects cause neither
 * waiting nor rollouts: the workload is treated as if it did not read them.
 */
export function trackedReferences(workload: Workload, lookup: Lookup, rules: Rules): TrackedReferences {
  const granted = grantedReferences(workload, lookup, rules);
  const untracked = new Map<string, UntrackedReason>();
  for (const reference of granted.references) {
    const { kind, namespace, name } = reference;
    if (isExcluded(workload, rules, reference)) untracked.set(configKey(reference), "excluded");
    else if (ignoresKind(rules.compatibility, kind)) untracked.set(configKey(reference), "unselected");
    else {
      const config = granted.lookup(kind, namespace, name);
      if (config?.isCopy) untracked.set(configKey(reference), "copy");
      else if (config?.directive === "ignore") untracked.set(configKey(reference), "ignored");
      else if (config?.directive === "unselected") untracked.set(configKey(reference), "unselected");
      else if (reference.requiresMark && !config?.isMarked) untracked.set(configKey(reference), "unmarked");
    }
  }
  const all = granted.references;
  const references = untracked.size === 0 ? all : all.filter((reference) => !untracked.has(configKey(reference)));
  return { ...granted, references, all, untracked };
}

/** Reports whether the workload or its Namespace excludes an object. */
export function isExcluded(
  { namespace }: Pick<Workload, "namespace">,
  { excludeConfigMaps, excludeSecrets }: Pick<Rules, "excludeConfigMaps" | "excludeSecrets">,
  object: ConfigName,
): boolean {
  return isListed((object.kind === "ConfigMap" ? excludeConfigMaps : excludeSecrets).value, object, namespace);
}

/** Returns the references of a workload. Regular expressions match the objects that exist in its namespace now. */
export function matchedReferences(
  workload: Workload,
  { matchedNames }: Pick<Rules, "matchedNames">,
): WorkloadReferences {
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

/** The references that a workload may use, a lookup limited to them, and a warning about all others. */
interface GrantedReferences {
  /** The references that the policy allows, whether their objects are shared with the workload or not. */
  readonly references: readonly Reference[];
  /** Finds only objects that the workload may read. An object that is not shared with the workload looks absent. */
  readonly lookup: Lookup;
  /** The keys of objects in other namespaces that `lookup` does not find or the policy does not allow. */
  readonly refusedKeys: ReadonlySet<string>;
  readonly warnings: readonly Warning[];
}

/** How many refused objects a warning names. */
const shownObjects = 5;

/**
 * Limits a workload to the objects that it may read. A reference into another namespace would reveal changes of an object
 * that the author of the reference may not read. So the owner of the object must grant it, unless the policy says otherwise.
 *
 * Without a grant the object looks absent: if the reference is required, the workload waits. So the author cannot learn
 * whether the object exists, and nothing restarts if a grant is withdrawn or the object is deleted and created again.
 * References that the policy itself forbids are ignored.
 */
function grantedReferences(workload: Workload, lookup: Lookup, rules: Rules): GrantedReferences {
  const references: Reference[] = [];
  const refused = new Map<string, Refused>();
  // A plan looks up an object several times, and its list of namespaces may be long.
  const known = new Map<Config, boolean>();
  const shared: Lookup = (kind, namespace, name) => {
    const config = lookup(kind, namespace, name);
    if (config === undefined || needsNoGrant(workload, config, rules)) return config;
    const isReadable = known.get(config) ?? isSharedWith(config, workload.namespace);
    known.set(config, isReadable);
    return isReadable ? config : undefined;
  };
  for (const reference of matchedReferences(workload, rules).references) {
    const { kind, namespace, name } = reference;
    const forbids = forbidden(workload, reference, rules);
    if (forbids === undefined) references.push(reference);
    if (namespace === workload.namespace) continue;
    const why = forbids ?? unshared(workload, shared(kind, namespace, name), rules);
    if (why !== undefined) refused.set(configKey(reference), { kind, namespace, name, why });
  }
  return {
    references,
    lookup: shared,
    refusedKeys: new Set(refused.keys()),
    warnings: warningsOf([...refused.values()]),
  };
}

interface Refused extends ConfigName {
  readonly why: string;
}

function warningsOf(refused: readonly Refused[]): readonly Warning[] {
  const alike = [...Map.groupBy(refused, ({ why }) => why)];
  return alike.map(([why, objects]) => {
    const named = formatList(objects, shownObjects, (one) => describeObject(one, ""));
    return { reason: "CrossNamespaceRefused", message: `${named}: ${why}` };
  });
}

/** Returns the same text whether the object exists or not, so that the warning does not reveal it. */
function unshared({ namespace }: Workload, found: Config | undefined, rules: Rules): string | undefined {
  if (found !== undefined || rules.crossNamespace === "any") return undefined;
  return crossNamespaceTexts.unshared(sharedWith, namespace);
}

/** Reports whether a workload may read an object without a grant: it is in the same namespace, or the policy allows any. */
function needsNoGrant({ namespace }: Workload, object: ConfigName, rules: Rules): boolean {
  return object.namespace === namespace || rules.crossNamespace === "any";
}

/**
 * Returns the stored objects that Wave may read to plan a workload. Objects in other namespaces are included only if
 * `cached` shows a grant, so that a reference cannot make Wave read an object that was not granted. SecretProviderClasses
 * are not included: Wave never reads what they fetch.
 */
export function grantedObjects(workload: Workload, cached: Lookup, rules: Rules): readonly StoredName[] {
  return objectsToRead(workload, rules).filter((object): object is StoredName => {
    if (!isStored(object)) return false;
    if (needsNoGrant(workload, object, rules)) return true;
    const known = cached(object.kind, object.namespace, object.name);
    return known !== undefined && isSharedWith(known, workload.namespace);
  });
}

/**
 * Returns every object that the plan of a workload looks up, each once, granted or not. Invalid object names are left out, so
 * that text of a user never becomes a URL path.
 */
export function objectsToRead(workload: Workload, rules: Rules): readonly ConfigName[] {
  const readable = matchedReferences(workload, rules).references.filter(
    (reference) => isDnsSubdomain(reference.name) && forbidden(workload, reference, rules) === undefined,
  );
  const byName = new Map(
    readable.map((reference) => {
      const { kind, namespace, name } = reference;
      return [configKey(reference), { kind, namespace, name }];
    }),
  );
  return [...byName.values()];
}

/** Returns why the policy alone refuses a reference, whatever grants the object has; undefined if it does not. */
function forbidden({ namespace }: Workload, reference: Reference, rules: Rules): string | undefined {
  if (reference.namespace === namespace) return undefined;
  if (rules.crossNamespace === "none") {
    return crossNamespaceTexts.off;
  }
  if (rules.namespaces !== undefined && !rules.namespaces.includes(reference.namespace)) {
    return crossNamespaceTexts.unwatched;
  }
  return undefined;
}
