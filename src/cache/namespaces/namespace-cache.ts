import type { CompatibilitySettings } from "../../domain/compatibility/settings.ts";
import { type NamespaceObject, sameNamespacePolicy, toNamespacePolicy } from "../../domain/policy/namespace-policy.ts";
import type { NamespacePolicy } from "../../domain/policy/policy.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resources } from "../../kube/api/resources.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { ListListener, Watch } from "../store/kind-cache.ts";
import { runReflector } from "../store/reflector.ts";
import { Store, type StoreChange } from "../store/store.ts";
import { SyncGate } from "../store/sync-gate.ts";

/** One watch: of the Namespace of a name, or of all where the name is "". */
interface Watched {
  readonly store: Store<NamespacePolicy>;
  readonly listed: SyncGate;
}

/**
 * What each Namespace decides for the workloads in it. Where Wave is limited to some, each is watched by its name: then no
 * permission is needed for any other.
 */
export class NamespaceCache {
  readonly kind = resources.namespaces.kind;
  readonly #log: Logger;
  readonly #compatibility: CompatibilitySettings | undefined;
  /** By name; under "" the one for all. */
  readonly #watched: ReadonlyMap<string, Watched>;

  constructor(options: {
    /** Undefined for all. */
    readonly namespaces: readonly string[] | undefined;
    readonly compatibility?: CompatibilitySettings | undefined;
    readonly log: Logger;
    /** Told after it holds what a Namespace decides. */
    readonly onChange: (name: string) => void;
    /** Told besides where it opted in or out after it was first listed. */
    readonly onOptInChange: (name: string) => void;
  }) {
    const { namespaces = [""], log, onChange, onOptInChange } = options;
    this.#log = log;
    this.#compatibility = options.compatibility;
    const watched = (): Watched => {
      const listed = new SyncGate();
      const tell = ({ key, before, after }: StoreChange<NamespacePolicy>) => {
        const name = key.slice(key.lastIndexOf("/") + 1);
        const opts = (before?.optsIn ?? false) !== (after?.optsIn ?? false);
        if (opts && listed.isOpen) onOptInChange(name);
        onChange(name);
      };
      return { store: new Store({ kind: this.kind, same: sameNamespacePolicy, onChange: tell }), listed };
    };
    this.#watched = new Map(namespaces.map((name) => [name, watched()]));
  }

  /** How many Namespaces have something that is kept. */
  get size(): number {
    return this.#watched.values().reduce((sum, { store }) => sum + store.size, 0);
  }

  /** What a Namespace decides; undefined where none of this name is known. */
  get(name: string): NamespacePolicy | undefined {
    return (this.#watched.get("") ?? this.#watched.get(name))?.store.get("", name);
  }

  /** Resolves when it is known what a Namespace decides, or with "" what all do; rejects when the signal is aborted before. */
  async whenListed(namespace: string, signal: AbortSignal): Promise<void> {
    await this.#watched.get(namespace)?.listed.opened(signal);
  }

  /** The runs of its reflectors, each of which ends with the signal. */
  run(watch: Watch, signal: AbortSignal, { listed, failed }: ListListener): Promise<void>[] {
    return Array.from(this.#watched, ([name, watched]) => {
      const selector = name === "" ? {} : { fieldSelector: `metadata.name=${name}` };
      return runReflector({
        kind: this.kind,
        events: watch<KubeObject & NamespaceObject>({ resource: resources.namespaces, ...selector }, signal),
        store: watched.store,
        transform: (object) => toNamespacePolicy(object, this.#compatibility),
        log: this.#log,
        onSynced: () => {
          watched.listed.open();
          listed(name);
        },
        onFailed: (why) => failed(name, why),
      });
    });
  }
}
