// The cache of Namespaces: what each decides for its workloads, and which namespaces are synced.
import type { Namespace } from "#kubernetes";
import type { CompatibilitySettings } from "../../domain/compatibility/directive.ts";
import { type ClusterHold, type NamespacePolicy, toNamespacePolicy } from "../../domain/policy/policy.ts";
import { equalJson } from "../../domain/syntax/json.ts";
import { type KubeObject, resources } from "../../kube/api/resources.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { ListListener, Watch } from "../store/kind-cache.ts";
import { runReflector, SyncGate } from "../store/reflector.ts";
import { Store, type StoreChange } from "../store/store.ts";

/** One watch: of one Namespace, or of all if the name is "". */
interface NamespaceWatch {
  readonly store: Store<NamespacePolicy>;
  readonly listed: SyncGate;
}

/**
 * The policy of each Namespace for its workloads. If Wave is limited to some namespaces, each is watched by name: Wave then needs
 * no permission for others. The Namespace in which Wave runs is always watched, because its annotation may hold every rollout.
 */
export class NamespaceCache {
  readonly kind = resources.namespaces.kind;
  readonly #log: Logger;
  readonly #compatibility: CompatibilitySettings | undefined;
  /** By name. The key "" is the watch of all. */
  readonly #watched: ReadonlyMap<string, NamespaceWatch>;
  readonly #own: string | undefined;
  #ownFailure: string | undefined;

  constructor(options: {
    /** Undefined: all. */
    readonly namespaces: readonly string[] | undefined;
    /** The Namespace in which Wave runs; undefined outside a cluster. */
    readonly own?: string | undefined;
    readonly compatibility?: CompatibilitySettings | undefined;
    readonly log: Logger;
    /** Receives the name of a Namespace after its policy changed. */
    readonly onChange: (name: string) => void;
    /** Also receives the name if the Namespace opted in or out after the first list. */
    readonly onOptInChange: (name: string) => void;
  }) {
    const { namespaces = [""], own, log, onChange, onOptInChange } = options;
    this.#log = log;
    this.#own = own;
    this.#compatibility = options.compatibility;
    const watched = (): NamespaceWatch => {
      const listed = new SyncGate();
      const announce = ({ key, before, after }: StoreChange<NamespacePolicy>) => {
        const name = key.slice(key.lastIndexOf("/") + 1);
        const optInChanged = (before?.optsIn ?? false) !== (after?.optsIn ?? false);
        if (optInChanged && listed.isOpen) onOptInChange(name);
        onChange(name);
      };
      return { store: new Store({ kind: this.kind, same: equalJson, onChange: announce }), listed };
    };
    const names = new Set(own === undefined || namespaces.includes("") ? namespaces : [...namespaces, own]);
    this.#watched = new Map(Array.from(names, (name) => [name, watched()]));
  }

  /** Number of Namespaces with a policy. */
  get size(): number {
    return this.#watched.values().reduce((sum, { store }) => sum + store.size, 0);
  }

  get(name: string): NamespacePolicy | undefined {
    return this.#watchOf(name)?.store.get("", name);
  }

  /** The hold of every rollout; undefined: there is none. */
  get clusterHold(): ClusterHold | undefined {
    const namespace = this.#own;
    const reason = namespace === undefined ? undefined : this.get(namespace)?.clusterHold;
    return namespace === undefined || reason === undefined ? undefined : { namespace, reason };
  }

  /** Whether it is known if every rollout is held. Before that, nothing may roll: a restart must not end the hold. */
  get isOwnListed(): boolean {
    return this.#own === undefined || this.#watchOf(this.#own)?.listed.isOpen === true;
  }

  /** Returns why it is not known if every rollout is held: one line, or nothing. */
  ownProblem(): readonly string[] {
    return this.isOwnListed || this.#ownFailure === undefined ? [] : [this.#ownFailure];
  }

  #watchOf(name: string): NamespaceWatch | undefined {
    return this.#watched.get("") ?? this.#watched.get(name);
  }

  /** Resolves when the policy of a Namespace ("" for all) is known. Rejects if the signal is aborted first. */
  async whenListed(namespace: string, signal: AbortSignal): Promise<void> {
    await this.#watched.get(namespace)?.listed.opened(signal);
  }

  /** Starts the reflectors. Each promise resolves when the signal is aborted. */
  run(watch: Watch, signal: AbortSignal, { listed, failed }: ListListener): Promise<void>[] {
    return Array.from(this.#watched, ([name, watched]) => {
      const fieldSelector = name === "" ? undefined : `metadata.name=${name}`;
      return runReflector({
        kind: this.kind,
        events: watch<KubeObject & Namespace>({ resource: resources.namespaces, fieldSelector }, signal),
        store: watched.store,
        transform: (object) => toNamespacePolicy(object, this.#compatibility),
        log: this.#log,
        onSynced: () => {
          watched.listed.open();
          listed(name);
        },
        onFailed: (reason) => {
          if (name === this.#own) this.#ownFailure = reason;
          failed(name, reason);
        },
      });
    });
  }
}
