// The caches of ConfigMaps, Secrets and SecretProviderClasses. Keeps digests, never values.
import {
  type Config,
  type ConfigObject,
  isReceived,
  newestTimeOf,
  sameConfig,
  toConfig,
  withChangeTime,
  withoutKeys,
} from "../../domain/config/digest.ts";
import { type PodStatus, type PodStatusObject, samePodStatus, toPodStatus } from "../../domain/config/pod-status.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { type ConfigName, configKey, type StoredKind } from "../../domain/references/references.ts";
import { sharedString } from "../../domain/syntax/json.ts";
import { type KubeObject, type Resource, resources } from "../../kube/api/resources.ts";
import type { Clock } from "../../lib/clock.ts";
import { setLatest } from "../../lib/latest-entries.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { OwnerIndex } from "../index/owner-index.ts";
import { KindCache } from "../store/kind-cache.ts";
import { type NamespaceExceeded, type NamespaceLimits, SharedLists } from "../store/namespace-limits.ts";
import type { StoreChange } from "../store/store.ts";
import { ProviderClasses } from "./mounted-classes.ts";

interface Options extends Pick<Policy, "namespaces" | "compatibility" | "providerClasses"> {
  readonly log: Logger;
  readonly clock: Clock;
  readonly onConfigChange: (change: StoreChange<Config>) => void;
  readonly absences: Pick<Absences, "before">;
  /** Receives the owners of each object; undefined if owners are not tracked. */
  readonly owners: OwnerIndex | undefined;
}

type ConfigCache = KindCache<KubeObject & ConfigObject, Config>;

/** Excludes Helm releases: Secrets of up to 1 MiB each that no Pod reads. The server does not send them. */
export const withoutHelmReleases = "type!=helm.sh/release.v1";

/** One cache for each kind. */
interface ConfigCaches extends Readonly<Record<StoredKind, ConfigCache>> {
  /** Undefined if SecretProviderClasses are not tracked. */
  readonly SecretProviderClass: ProviderClassCache | undefined;
}

/**
 * Creates the caches of ConfigMaps and Secrets, which hold digests, and of SecretProviderClasses. An update without a data
 * change only costs the SHA-256.
 */
export function configCaches(options: Options, namespaceLimits: NamespaceLimits): ConfigCaches {
  const { namespaces, compatibility, log, onConfigChange, absences, owners } = options;
  const shared = new SharedLists();
  /** The newest times of objects that were written later without a change. The removal of a key may leave such a time. */
  const touchedAt = new WeakMap<Config, number>();
  const cache = (kind: StoredKind, resource: Resource, fieldSelector?: string): ConfigCache => {
    const created: ConfigCache = new KindCache<KubeObject & ConfigObject, Config>({
      resource,
      digestsOf: kind,
      fieldSelector,
      namespaces,
      transform: (object, held, source) => {
        const read = toConfig(kind, object, compatibility);
        owners?.update(kind, object);
        const newestTime = held && Math.max(touchedAt.get(held) ?? 0, newestTimeOf(held));
        // After a gap in the watch, the same content may be there again: then times before the gap prove nothing.
        const isKnown = source !== "later list" || isReceived(read, created.syncedUpTo(read.namespace));
        if (held !== undefined && isKnown && sameConfig(held, read)) {
          if (newestTimeOf(read) > newestTimeOf(held)) touchedAt.set(held, newestTimeOf(read));
          return held;
        }
        const { name } = held ?? read; // The store keeps the name of the first object.
        const config = withChangeTime(read, held, source !== "later list", newestTime);
        // Tens of thousands of objects never change.
        const revision = source === "first list" ? undefined : config.revision;
        const [namespace, keys] = [sharedString(config.namespace), shared.list(config.keys)];
        // A list after a gap may hide that the object came and went.
        const wasAbsentSince = held === undefined && source === "watch" ? absences.before(config) : undefined;
        const slim = {
          ...config,
          namespace,
          name,
          keys,
          revision,
          ...(wasAbsentSince !== undefined && { wasAbsentSince }),
        };
        const fitted = namespaceLimits.fit(held, slim, (exceeded) => withoutKeys(slim, exceeded));
        const newest = Math.max(newestTime ?? 0, newestTimeOf(read));
        if (newest > newestTimeOf(fitted)) touchedAt.set(fitted, newest);
        return fitted;
      },
      same: Object.is,
      onChange: (change) => {
        const { key, before, after } = change;
        if (after === undefined) owners?.forget(key);
        if (before === undefined || after === undefined || !sameConfig(before, after)) onConfigChange(change);
      },
      onReplaced: namespaceLimits.record,
      shouldRelist: () => namespaceLimits.hasRoomAnywhere,
      log,
    });
    return created;
  };
  return {
    ConfigMap: cache("ConfigMap", resources.configMaps),
    Secret: cache("Secret", resources.secrets, withoutHelmReleases),
    SecretProviderClass: options.providerClasses ? providerClassCache(options, namespaceLimits) : undefined,
  };
}

/** What the caches need of SecretProviderClasses, as of the other kinds. */
type ProviderClassCache = Pick<ConfigCache, "kind" | "size" | "get" | "valuesIn" | "syncedUpTo" | "run">;

/**
 * Creates the cache of SecretProviderClasses, from the status object that the driver writes for each Pod. Kind, size and lists are those of
 * these objects. Empty while the driver is not installed.
 */
function providerClassCache(
  { namespaces, log, clock, onConfigChange }: Options,
  namespaceLimits: NamespaceLimits,
): ProviderClassCache {
  const classes = new ProviderClasses(onConfigChange);
  const statuses = new KindCache<KubeObject & PodStatusObject, PodStatus>({
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
    onChange: (change) => classes.update(change),
    onReplaced: namespaceLimits.record,
    shouldRelist: () => namespaceLimits.hasRoomAnywhere,
    log,
  });
  return {
    kind: statuses.kind,
    get size() {
      return statuses.size;
    },
    get: (namespace, name) => classes.get(namespace, name),
    valuesIn: (namespace) => classes.valuesIn(namespace),
    syncedUpTo: (namespace) => statuses.syncedUpTo(namespace),
    run: (watch, signal, listener) => statuses.run(watch, signal, listener),
  };
}

const maxKept = 1_000;

/** The last times of {@link maxKept} objects. For all others, `get` returns the last time that was forgotten. */
class LastTimes {
  readonly #times = new Map<string, number>();
  #forgotten = 0;

  set(key: string, at: number): void {
    const [, forgotten] = setLatest(this.#times, key, at, maxKept) ?? [];
    this.#forgotten = forgotten ?? this.#forgotten;
  }

  get(key: string): number {
    return Math.max(this.#forgotten, this.#times.get(key) ?? 0);
  }
}

/** Since when objects that do not exist have been absent, as the watches of this process show. Times are in monotonic milliseconds. */
export class Absences {
  readonly #clock: Pick<Clock, "monotonic">;
  /** When the last list was complete, by kind and namespace: before it, objects may have come and gone. */
  readonly #listed = new Map<string, number>();
  readonly #removed = new LastTimes();
  readonly #found = new LastTimes();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Records a complete list. The namespace is "" if the list has all namespaces. */
  listed(kind: string, namespace: string): void {
    this.#listed.set(`${kind}/${namespace}`, this.#clock.monotonic());
  }

  /** Records that a watch received the removal of an object. */
  removed(key: string): void {
    this.#removed.set(key, this.#clock.monotonic());
  }

  /** Records that a read found an object that the caches have not received. It may be gone before they receive it. */
  found(key: string): void {
    this.#found.set(key, this.#clock.monotonic());
  }

  /** Returns since when an object was absent that a watch has just received; undefined if its namespace is not listed. */
  before(object: ConfigName): number | undefined {
    const { kind, namespace } = object;
    const listed = this.#listed.get(`${kind}/`) ?? this.#listed.get(`${kind}/${namespace}`);
    return listed && Math.max(listed, this.#removed.get(configKey(object)));
  }

  /** Returns since when an object that the caches do not hold has been absent, at the latest; undefined if its namespace is not listed. */
  since(object: ConfigName): number | undefined {
    const before = this.before(object);
    return before && Math.max(before, this.#found.get(configKey(object)));
  }
}
