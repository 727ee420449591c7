import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { namespaceOf } from "../../domain/model/workload.ts";
import { noOwners, type Owners, ownersOf } from "../../domain/owner-references/owners.ts";
import { configKey, type StoredKind } from "../../domain/references/references.ts";
import { equalJson } from "../../domain/syntax/same-json.ts";
import { sharedString } from "../../domain/syntax/shared-string.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";

/** Of more owners of one object no more than these are kept: whoever made so many is no Wave of today's. */
const mostKept = 200;

/**
 * How much is kept for one namespace, in bytes of text: references may name workloads that were never there, and only a quota
 * limits how many. It is enough for some 80,000 references.
 */
const mostOfNamespace = 8 * 2 ** 20;
/** What a text takes besides its characters. */
const costOfText = 16;

/**
 * Who owns ConfigMaps and Secrets, of those alone that have owners which concern Wave. Beside the caches of digests, so
 * that a change of owners is no change of configuration.
 */
export class OwnerIndex {
  /** Undefined where there are more than is kept of its namespace. */
  readonly #owners = new Map<string, Owners | undefined>();
  /** Bytes, by namespace. */
  readonly #kept = new Map<string, number>();
  readonly #kinds: () => readonly WorkloadRow[];
  readonly #onChange: (configKey: string) => void;

  /** Knows owners of these kinds. `onChange` is told the key of an object that has other owners by now. */
  constructor(kinds: () => readonly WorkloadRow[], onChange: (configKey: string) => void) {
    this.#kinds = kinds;
    this.#onChange = onChange;
  }

  /** Who owns an object; undefined where only the API server knows, because there are too many in its namespace. */
  of(key: string): Owners | undefined {
    return this.#owners.has(key) ? this.#owners.get(key) : noOwners;
  }

  /** The keys of all objects that have owners. */
  keys(): Iterable<string> {
    return this.#owners.keys();
  }

  /** Takes in an object as it is now. */
  update(kind: StoredKind, { metadata }: Pick<KubeObject, "metadata">): void {
    const { namespace = "", name, ownerReferences } = metadata;
    const key = configKey({ kind, namespace, name });
    const before = this.of(key);
    const all = ownersOf(ownerReferences, namespace, this.#kinds());
    const owners = all.workloads.length > mostKept ? { ...all, workloads: all.workloads.slice(0, mostKept) } : all;
    if (before !== undefined && equalJson(before, owners)) return;
    this.#keep(key, namespace, owners);
    this.#onChange(key);
  }

  /** Forgets an object that is gone. */
  forget(key: string): void {
    this.#count(namespaceOf(key), -bytesOf(this.#owners.get(key)));
    this.#owners.delete(key);
  }

  #keep(key: string, namespace: string, owners: Owners): void {
    this.forget(key);
    if (owners === noOwners) return;
    const fits = (this.#kept.get(namespace) ?? 0) + bytesOf(owners) <= mostOfNamespace;
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
  return owners?.workloads.reduce((sum, text) => sum + text.length + costOfText, 0) ?? 0;
}
