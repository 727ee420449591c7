import type { KubeObject } from "../kube/api-types.ts";
import { noOwners, type Owners, ownersOf } from "../rollout/ownership/owners.ts";
import { configKey, type StoredKind } from "../rollout/references.ts";
import { sameJson } from "../rollout/same-json.ts";
import { sharedString } from "../rollout/shared-string.ts";
import type { WorkloadRow } from "../rollout/workload-row.ts";

/** Of more owners of one object no more than these are kept: whoever made so many is no Wave of today's. */
const mostKept = 200;

/**
 * Who owns ConfigMaps and Secrets, of those alone that have owners which concern Wave. Beside the caches of digests, so
 * that a change of owners is no change of configuration.
 */
export class OwnerIndex {
  readonly #owners = new Map<string, Owners>();
  readonly #kinds: () => readonly WorkloadRow[];
  readonly #onChange: (configKey: string) => void;

  /** Knows owners of these kinds. `onChange` is told the key of an object that has other owners by now. */
  constructor(kinds: () => readonly WorkloadRow[], onChange: (configKey: string) => void) {
    this.#kinds = kinds;
    this.#onChange = onChange;
  }

  /** Who owns an object. */
  of(key: string): Owners {
    return this.#owners.get(key) ?? noOwners;
  }

  /** The keys of all objects that have owners. */
  keys(): Iterable<string> {
    return this.#owners.keys();
  }

  /** Takes in an object as it is now. */
  see(kind: StoredKind, { metadata }: Pick<KubeObject, "metadata">): void {
    const { namespace = "", name, ownerReferences } = metadata;
    const key = configKey({ kind, namespace, name });
    const before = this.of(key);
    const all = ownersOf(ownerReferences, namespace, this.#kinds());
    const owners = all.workloads.length > mostKept ? { ...all, workloads: all.workloads.slice(0, mostKept) } : all;
    if (sameJson(before, owners)) return;
    if (owners === noOwners) this.#owners.delete(key);
    else this.#owners.set(sharedString(key), owners);
    this.#onChange(key);
  }

  /** Forgets an object that is gone. */
  forget(key: string): void {
    this.#owners.delete(key);
  }
}
