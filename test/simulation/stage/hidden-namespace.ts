import type { Random } from "./random.ts";
import type { ReplicaOptions } from "./replica.ts";

/** Nobody has granted Wave one of its namespaces: until somebody does, or for ever where it has others. */
export function hideNamespace({ cluster, scheduler, weather, settings }: ReplicaOptions, random: Random): void {
  const { namespaces = [] } = settings;
  if (namespaces.length === 0 || random.chance(0.4)) return;
  const status = random.pick([403, 403, 404] as const);
  cluster.unlisted = { namespace: random.pick(namespaces), status };
  if (namespaces.length > 1 && random.chance(0.6)) return;
  // A list that failed for long is tried again every 30 s.
  scheduler.after(random.between(0, Math.max(0, weather.calmAt - 30_000)), () => {
    cluster.unlisted = undefined;
  });
}
