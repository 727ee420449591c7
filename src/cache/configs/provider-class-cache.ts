import type { Config } from "../../domain/config/digest.ts";
import { type PodStatus, type PodStatusObject, samePodStatus, toPodStatus } from "../../domain/config/pod-status.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resources } from "../../kube/api/resources.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { KindCache, type ListListener, type Watch } from "../store/kind-cache.ts";
import type { NamespaceExceeded, NamespaceLimits } from "../store/namespace-limits.ts";
import type { StoreChange } from "../store/store.ts";
import { ProviderClasses } from "./mounted-classes.ts";

interface Options {
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly onConfigChange: (change: StoreChange<Config>) => void;
}

/**
 * The content of SecretProviderClasses, from the status object that the driver writes for each Pod. Empty while the driver is not
 * installed.
 */
export class ProviderClassCache {
  readonly #statuses: KindCache<KubeObject & PodStatusObject, PodStatus>;
  readonly #classes: ProviderClasses;

  constructor({ namespaces, log, clock, onConfigChange }: Options, namespaceLimits: NamespaceLimits) {
    this.#classes = new ProviderClasses(onConfigChange);
    this.#statuses = new KindCache({
      resource: resources.secretProviderClassPodStatuses,
      mayBeAbsent: true,
      namespaces,
      transform: (object, held) => {
        const status = toPodStatus(object, clock.wall() / 1000, held);
        if (held !== undefined && samePodStatus(held, status)) return held;
        const leftOut = (limitExceeded: NamespaceExceeded): PodStatus => ({ ...status, className: "", limitExceeded });
        return namespaceLimits.fit(held, status, leftOut);
      },
      same: samePodStatus,
      onChange: (change) => this.#classes.update(change),
      onReplaced: namespaceLimits.record,
      shouldRelist: () => namespaceLimits.hasRoomAnywhere,
      log,
    });
  }

  /** The watched kind, for messages. */
  get kind(): string {
    return this.#statuses.kind;
  }

  /** Number of Pod status objects. */
  get size(): number {
    return this.#statuses.size;
  }

  /** Returns a class; undefined if no Pod mounts it. */
  get(namespace: string, name: string): Config | undefined {
    return this.#classes.get(namespace, name);
  }

  /** Returns the classes that Pods of a namespace mount. */
  valuesIn(namespace: string): Iterable<Config> {
    return this.#classes.valuesIn(namespace);
  }

  /** See {@link KindCache.syncedUpTo}. */
  syncedUpTo(namespace: string): number {
    return this.#statuses.syncedUpTo(namespace);
  }

  /** See {@link KindCache.run}. */
  run(watch: Watch, signal: AbortSignal, listener: ListListener): Promise<void>[] {
    return this.#statuses.run(watch, signal, listener);
  }
}
