import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { sharedWith } from "../references/annotations.ts";
import { type ConfigName, configKey, isStored, type Reference, type StoredName } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { enumerated } from "../syntax/wording.ts";
import { type Config, isSharedWith } from "./digest.ts";
import { matchedReferences } from "./matched-references.ts";
import { describeObject } from "./messages.ts";
import type { Lookup } from "./view.ts";

/** The references of a workload that count, what it may learn through them, and a warning about all others. */
export interface Granted {
  /** Those that the policy allows, whether their objects are shared with the workload or not. */
  readonly references: readonly Reference[];
  /** Finds what the workload may learn of and nothing else: what is not shared with it is as if it did not exist. */
  readonly lookup: Lookup;
  /** The keys of the objects of other namespaces that it cannot find or that do not count. */
  readonly refused: ReadonlySet<string>;
  readonly warnings: readonly Warning[];
}

/** How many objects that a workload may not read its warning names. */
const shownObjects = 5;

/**
 * Keeps from a workload what it may not learn about. A reference into another namespace would tell its author when an
 * object changes that they may not read, so its owner must have granted it, unless the policy says otherwise.
 *
 * A reference without a grant is one to an object that does not exist: it is required and the workload waits. So nobody
 * learns whether there is such an object, and nothing is restarted when a grant is taken back, or the object is deleted
 * and made again. What the policy itself forbids does not count at all.
 */
export function grantedReferences(workload: Workload, lookup: Lookup, policy: Policy): Granted {
  const references: Reference[] = [];
  const refused = new Map<string, Refused>();
  const mayLearn = (config: Config) =>
    needsNoGrant(workload, config, policy) || isSharedWith(config, workload.namespace);
  // A plan looks an object up several times, and the list of those that it is shared with may be long.
  const learnt = new Map<Config, boolean>();
  const shared: Lookup = (kind, namespace, name) => {
    const config = lookup(kind, namespace, name);
    if (config === undefined) return undefined;
    const may = learnt.get(config) ?? mayLearn(config);
    learnt.set(config, may);
    return may ? config : undefined;
  };
  for (const reference of matchedReferences(workload, policy).references) {
    const { kind, namespace, name } = reference;
    const forbids = forbidden(workload, reference, policy);
    if (forbids === undefined) references.push(reference);
    if (namespace === workload.namespace) continue;
    const why = forbids ?? unshared(workload, shared(kind, namespace, name), policy);
    if (why !== undefined) refused.set(configKey(reference), { kind, namespace, name, why });
  }
  return { references, lookup: shared, refused: new Set(refused.keys()), warnings: warningsOf([...refused.values()]) };
}

interface Refused extends ConfigName {
  readonly why: string;
}

function warningsOf(refused: readonly Refused[]): readonly Warning[] {
  const alike = [...Map.groupBy(refused, ({ why }) => why)];
  return alike.map(([why, objects]) => {
    const named = enumerated(objects, shownObjects, (one) => describeObject(one, ""));
    return { reason: "CrossNamespaceRefused", message: `${named}: ${why}` };
  });
}

/** The same text whether the object exists or not: else this would tell who may not know. */
function unshared({ namespace }: Workload, found: Config | undefined, policy: Policy): string | undefined {
  if (found !== undefined || policy.crossNamespace === "any") return undefined;
  return `not there, or without the annotation ${sharedWith}: "${namespace}"`;
}

/** An object of its own namespace, or any object where the policy says so. */
function needsNoGrant({ namespace }: Workload, object: ConfigName, policy: Policy): boolean {
  return object.namespace === namespace || policy.crossNamespace === "any";
}

/**
 * Of the objects that must be looked up to plan a workload those that may be read for it: of another namespace only what
 * `cached` knows to be shared with it, so that nobody makes Wave read what was not granted. What SecretProviderClasses
 * fetch is read nowhere.
 */
export function objectsGranted(workload: Workload, cached: Lookup, policy: Policy): readonly StoredName[] {
  return objectsToRead(workload, policy).filter((object): object is StoredName => {
    if (!isStored(object)) return false;
    if (needsNoGrant(workload, object, policy)) return true;
    const known = cached(object.kind, object.namespace, object.name);
    return known !== undefined && isSharedWith(known, workload.namespace);
  });
}

/**
 * Every object that must be looked up to plan a workload, each once, granted or not. What no object can be called is not
 * among them, so that nobody's text becomes a path.
 */
export function objectsToRead(workload: Workload, policy: Policy): readonly ConfigName[] {
  const readable = matchedReferences(workload, policy).references.filter(
    (reference) => isDnsSubdomain(reference.name) && forbidden(workload, reference, policy) === undefined,
  );
  const byName = new Map(
    readable.map((reference) => {
      const { kind, namespace, name } = reference;
      return [configKey(reference), { kind, namespace, name }];
    }),
  );
  return [...byName.values()];
}

/** Why the policy alone refuses a reference, whatever the object says. */
function forbidden({ namespace }: Workload, reference: Reference, policy: Policy): string | undefined {
  if (reference.namespace === namespace) return undefined;
  if (policy.crossNamespace === "none") {
    return "not counted, because references into other namespaces are off (--cross-namespace=none)";
  }
  if (policy.namespaces !== undefined && !policy.namespaces.includes(reference.namespace)) {
    return "not counted, because Wave does not watch that namespace (--namespaces)";
  }
  return undefined;
}
