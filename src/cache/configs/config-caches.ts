import type { CompatibilitySettings } from "../../domain/compatibility/settings.ts";
import { type Config, type ConfigObject, sameConfig, toConfig, withoutKeys } from "../../domain/config/digest.ts";
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
  /** Undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Whether what SecretProviderClasses fetch is known. */
  readonly providerClasses?: boolean | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly onConfigChange: (change: StoreChange<Config>) => void;
  /** Is told who owns each object; undefined where nobody asks. */
  readonly owners: OwnerIndex | undefined;
}

type ConfigCache = KindCache<KubeObject & ConfigObject, Config>;

/** Helm keeps every release as a Secret, up to 1 MiB each; no Pod reads them, so they never leave the server. */
const withoutHelmReleases = "type!=helm.sh/release.v1";

/** A cache of each kind. */
interface ConfigCaches extends Readonly<Record<StoredKind, ConfigCache>> {
  /** Undefined where it is off. */
  readonly SecretProviderClass: ProviderClassCache | undefined;
}

/**
 * The caches of ConfigMaps and Secrets, which hold digests, and of what SecretProviderClasses fetch. An object whose data is
 * as it was costs its SHA-256 alone.
 */
export function configCaches(options: Options, namespaceLimits: NamespaceLimits): ConfigCaches {
  const { namespaces, compatibility, log, onConfigChange, owners } = options;
  const shared = new SharedLists();
  const cache = (kind: StoredKind, resource: Resource, selector: { fieldSelector?: string } = {}): ConfigCache =>
    new KindCache({
      resource,
      ...selector,
      namespaces,
      transform: (object, held) => {
        const config = toConfig(kind, object, compatibility);
        owners?.update(kind, object);
        if (held !== undefined && sameConfig(held, config)) return held;
        const slim = { ...config, namespace: sharedString(config.namespace), keys: shared.list(config.keys) };
        return namespaceLimits.fit(held, slim, (count) => withoutKeys(slim, { limit: "namespace", count }));
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
