import { type ConfigName, configKey, limits } from "../references/references.ts";
import { type Warning, wholeObjectText } from "../references/warning.ts";
import { formatCount } from "../syntax/wording.ts";
import { describeObject } from "./changes.ts";
import { asWhole, type Config, isWhole } from "./digest.ts";
import type { TrackedReferences } from "./tracked-references.ts";
import { countKeys, findConfig } from "./view-of-references.ts";

/**
 * Returns the tracked references with a lookup that has objects with too many keys as a whole: the hash then has one digest for
 * all data of such an object. If the Pods read more keys than the limit, the objects with most keys are whole, until the others
 * are within the limit. So a client that may edit one object cannot stop rollouts for the others.
 */
export function withWholeObjects(
  tracked: TrackedReferences,
  workloadNamespace: string,
): { readonly tracked: TrackedReferences; readonly warnings: readonly Warning[] } {
  let keys = 0;
  let isAnyWhole = false;
  for (const reference of tracked.references) {
    const config = findConfig(tracked.lookup, reference);
    keys += countKeys(reference, config);
    isAnyWhole ||= config !== undefined && isWhole(config);
  }
  // Almost every workload: nothing more is computed.
  if (!isAnyWhole && keys <= limits.keys.max) return { tracked, warnings: [] };
  const read = new Map<string, Config>();
  const times = new Map<string, number>();
  for (const reference of tracked.references) {
    const config = findConfig(tracked.lookup, reference);
    if (config === undefined || config.kind === "SecretProviderClass") continue;
    const key = configKey(config);
    if (reference.keys === "all" || isWhole(config)) read.set(key, config);
    if (reference.keys === "all") times.set(key, (times.get(key) ?? 0) + 1);
  }
  const whole = new Map<string, Config>();
  const warnings: Warning[] = [];
  const add = (key: string, config: Config, count: number) => {
    whole.set(key, config);
    warnings.push({ reason: "OverLimit", message: textOf(config, count, workloadNamespace) });
  };
  for (const [key, config] of read) if (isWhole(config)) add(key, config, config.limitExceeded?.count ?? 0);
  if (keys > limits.keys.max) {
    const inOrder = [...read].filter(([key]) => !whole.has(key)).sort(byKeys);
    for (const [key, config] of inOrder) {
      if (keys <= limits.keys.max) break;
      keys -= (times.get(key) ?? 0) * (config.keys.length - 1);
      add(key, asWhole(config), config.keys.length);
    }
  }
  if (whole.size === 0) return { tracked, warnings };
  const lookup: TrackedReferences["lookup"] = (kind, namespace, name) =>
    whole.get(configKey({ kind, namespace, name })) ?? tracked.lookup(kind, namespace, name);
  return { tracked: { ...tracked, lookup }, warnings };
}

/** Compares by the number of keys, most first, and then by name. */
function byKeys(
  [a, { keys: most }]: readonly [string, Config],
  [b, { keys: fewer }]: readonly [string, Config],
): number {
  return fewer.length - most.length || (a < b ? -1 : 1);
}

function textOf(config: ConfigName, count: number, workloadNamespace: string): string {
  return wholeObjectText(describeObject(config, workloadNamespace), formatCount(count), formatCount(limits.keys.max));
}
