import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { isStored } from "../../domain/references/references.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import { ownershipMetrics } from "../../telemetry/catalogue/owner-references.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { OwnershipTerm, type OwnershipTermOptions } from "./owner-reference-workers.ts";

/** What {@link createOwnership} needs. */
export interface OwnershipOptions extends Omit<OwnershipTermOptions, "leadership" | "tokens" | "writes"> {
  readonly metrics: MetricsRegistry;
  /** Writes a second of its own, beside those of rolls. */
  readonly updateRate: number;
  readonly updateBurst: number;
}

/** Keeps, or removes, owner references and finalizers while Wave leads. To be told of changes; without effect while it does not. */
export interface Ownership {
  onWorkloadChange(change: StoreChange<Workload>): void;
  onConfigChange(change: StoreChange<Config>): void;
  onOwnersChange(configKey: string): void;
  onNamespaceChange(namespace: string): void;
  /** Works for one term; the caches must be synced. */
  run(leadership: Leadership): Promise<void>;
}

/** Nothing happens before `run`. Undefined where the policy says nothing of ownership, or nothing is to be written at all. */
export function createOwnership(options: OwnershipOptions): Ownership | undefined {
  const { policy, clock, updateRate, updateBurst } = options;
  if (policy.ownership === undefined || policy.pacing?.observe) return undefined;
  // Not of a term: what was written in the one before counts.
  const tokens = new TokenBucket({ clock, perSecond: updateRate, burst: updateBurst });
  const writes = options.metrics.counter(ownershipMetrics.writes);
  let term: OwnershipTerm | undefined;
  return {
    onWorkloadChange: (change) => term?.workloadChanged(change),
    onConfigChange: ({ key, before, after }) => {
      if (before === undefined && after !== undefined && isStored(after)) term?.objectChanged(key);
    },
    onOwnersChange: (key) => term?.objectChanged(key),
    onNamespaceChange: (namespace) => term?.askAll(namespace),
    async run(leadership) {
      term = new OwnershipTerm({ ...options, leadership, tokens, writes });
      try {
        await term.run();
      } finally {
        term = undefined;
      }
    },
  };
}
