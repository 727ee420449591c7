// The caches of ConfigMaps, Secrets and SecretProviderClasses. Keeps digests, never values.
import type { CompatibilitySettings } from "../../domain/compatibility/settings.ts";
import {
  type Config,
  type ConfigObject,
  hasSameContent,
  sameConfig,
  toConfig,
  withChangeTime,
  withoutKeys,
} from "../../domain/config/digest.ts";
import type { StoredKind } from "../../domain/references/references.ts";
import { sharedString } from "../../domain/syntax/shared-string.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { type Resource, resources } from "../../kube/api/resources.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { OwnerIndex } from "../index/owner-index.ts";
import { KindCache } from "../store/kind-cache.ts";
import type { NamespaceLimits } from "../store/namespace-limits.ts";
import { SharedLists } from "../store/shared-lists.ts";
import type { StoreChange } from "../store/store.ts";
import { ProviderClassCache } from "./provider-class-cache.ts";

interface Options {
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Reports whether SecretProviderClasses are tracked. */
  readonly providerClasses?: boolean | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly onConfigChange: (change: StoreChange<Config>) => void;
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
  const { namespaces, compatibility, log, onConfigChange, owners } = options;
  const shared = new SharedLists();
  const cache = (kind: StoredKind, resource: Resource, selector: { fieldSelector?: string } = {}): ConfigCache =>
    new KindCache({
      resource,
      digestsOf: kind,
      ...selector,
      namespaces,
      transform: (object, held, source) => {
        const read = toConfig(kind, object, compatibility);
        owners?.update(kind, object);
        if (held !== undefined && sameConfig(held, read)) return held;
        const { name } = held ?? read; // The store keeps the name of the first object.
        const config = withChangeTime(read, held);
        const hasContent = held !== undefined && hasSameContent(held, read);
        // Tens of thousands of objects never change.
        const revision = hasContent ? held.revision : source === "first list" ? undefined : config.revision;
        const [namespace, keys] = [sharedString(config.namespace), shared.list(config.keys)];
        const slim = { ...config, namespace, name, keys, revision };
        return namespaceLimits.fit(held, slim, (exceeded) => withoutKeys(slim, exceeded));
      },
      same: sameConfig,
      onChange: (change) => {
        if (change.after === undefined) owners?.forget(change.key);
        onConfigChange(change);
      },
      onReplaced: namespaceLimits.record,
      shouldRelist: () => namespaceLimits.hasRoomAnywhere,
      log,
    });
  return {
    ConfigMap: cache("ConfigMap", resources.configMaps),
    Secret: cache("Secret", resources.secrets, { fieldSelector: withoutHelmReleases }),
    SecretProviderClass: options.providerClasses ? new ProviderClassCache(options, namespaceLimits) : undefined,
  };
}
