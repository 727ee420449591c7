import type { Random } from "./random.ts";
import type { ReplicaOptions } from "./replica.ts";

/** Hides one of the namespaces from Wave: until its access is granted, or forever if Wave has other namespaces. */
export function hideNamespace({ cluster, scheduler, weather, settings }: ReplicaOptions, random: Random): void {
  const { namespaces = [] } = settings;
  if (namespaces.length === 0 || random.chance(0.4)) return;
  const status = random.pick([403, 403, 404] as const);
  cluster.unlisted = { namespace: random.pick(namespaces), status };
  if (namespaces.length > 1 && random.chance(0.6)) return;
  // After a long failure, a list is retried every 30 s.
  scheduler.after(random.between(0, Math.max(0, weather.calmAt - 30_000)), () => {
    cluster.unlisted = undefined;
  });
}
