import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { namespaceOf } from "../../domain/model/workload-shape.ts";
import { noOwners, type Owners, ownersOf } from "../../domain/owner-references/owner-references.ts";
import { configKey, type StoredKind } from "../../domain/references/references.ts";
import { equalJson, sharedString } from "../../domain/syntax/json.ts";
import type { KubeObject } from "../../kube/api/resources.ts";

/** Maximum number of owners that are kept for one object. No current version of Wave creates more. */
const maxOwners = 200;

/**
 * Maximum text that is kept for one namespace, in bytes: enough for about 80,000 references. References may name workloads that
 * never existed, and only a quota limits their number.
 */
const maxBytesOfNamespace = 8 * 2 ** 20;
/** Memory of a string without its characters, in bytes. */
const stringOverhead = 16;

/**
 * The owners of ConfigMaps and Secrets, only for objects whose owners are relevant for Wave. Separate from the caches of digests,
 * so that a change of owners is no change of configuration.
 */
export class OwnerIndex {
  /** Undefined if the namespace exceeds its maximum. */
  readonly #owners = new Map<string, Owners | undefined>();
  /** Bytes by namespace. */
  readonly #kept = new Map<string, number>();
  readonly #kinds: () => readonly WorkloadRow[];
  readonly #onChange: (configKey: string) => void;

  /** Tracks owners of these kinds. `onChange` receives the key of an object after its owners changed. */
  constructor(kinds: () => readonly WorkloadRow[], onChange: (configKey: string) => void) {
    this.#kinds = kinds;
    this.#onChange = onChange;
  }

  /** Returns the owners of an object; undefined if they are not kept because the namespace has too many: read them live. */
  of(key: string): Owners | undefined {
    return this.#owners.has(key) ? this.#owners.get(key) : noOwners;
  }

  keys(): Iterable<string> {
    return this.#owners.keys();
  }

  update(kind: StoredKind, { metadata }: Pick<KubeObject, "metadata">): void {
    const { namespace = "", name, ownerReferences } = metadata;
    const key = configKey({ kind, namespace, name });
    const before = this.of(key);
    const all = ownersOf(ownerReferences, namespace, this.#kinds());
    const owners = all.workloads.length > maxOwners ? { ...all, workloads: all.workloads.slice(0, maxOwners) } : all;
    if (before !== undefined && equalJson(before, owners)) return;
    this.#keep(key, namespace, owners);
    this.#onChange(key);
  }

  forget(key: string): void {
    this.#count(namespaceOf(key), -bytesOf(this.#owners.get(key)));
    this.#owners.delete(key);
  }

  #keep(key: string, namespace: string, owners: Owners): void {
    this.forget(key);
    if (owners === noOwners) return;
    const fits = (this.#kept.get(namespace) ?? 0) + bytesOf(owners) <= maxBytesOfNamespace;
    this.#owners.set(sharedString(key), fits ? owners : undefined);
    if (fits) this.#count(namespace, bytesOf(owners));
  }

  #count(namespace: string, bytes: number): void {
    const kept = (this.#kept.get(namespace) ?? 0) + bytes;
    if (kept > 0) this.#kept.set(namespace, kept);
    else this.#kept.delete(namespace);
  }
}

function bytesOf(owners: Owners | undefined): number {
  return owners?.workloads.reduce((sum, text) => sum + text.length + stringOverhead, 0) ?? 0;
}
