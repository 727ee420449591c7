import type { Caches } from "../cache/cluster-cache.ts";
import type { StoreChange } from "../cache/store/store.ts";
import type { Config } from "../domain/config/digest.ts";
import type { Workload } from "../domain/model/workload-shape.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { ObjectEvent } from "../kube/events/event-object.ts";
import type { ApiClient } from "../kube/http/client.ts";
import type { Leadership, WritePermits } from "../runtime/write-permits.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";

/** What all controllers share, for one leadership. */
interface LeaderContext extends Omit<ProcessContext, "metrics"> {
  readonly client: Pick<ApiClient, "request">;
  readonly policy: Policy;
  /** Its `stop` is aborted with `abort`, too, and if one of the controllers fails. */
  readonly leadership: Leadership;
  /** The permits of this leadership. They are closed when it ends. */
  readonly permits: WritePermits;
  /** Accepts an Event, which waits for its turn. */
  readonly post: (event: ObjectEvent) => void;
}

/** Selects parts of what the controllers share, and functions of the caches. */
export type LeaderParts<Part extends keyof LeaderContext, OfCaches extends keyof Caches = never> = Pick<
  LeaderContext,
  Part
> &
  ([OfCaches] extends [never] ? unknown : { readonly caches: Pick<Caches, OfCaches> });

/** A controller, for one leadership. It receives the changes in the caches. */
export interface LeaderController {
  onWorkloadChange?(change: StoreChange<Workload>): void;
  onConfigChange?(change: StoreChange<Config>): void;
  /** Receives the key of every ConfigMap and Secret whose owners changed. */
  onOwnersChange?(configKey: string): void;
  /** Receives every namespace whose Namespace annotations changed. */
  onNamespaceChange?(namespace: string): void;
  /** Receives every list of a kind, in a namespace or in all namespaces (""). */
  onListed?(kind: string, namespace: string): void;
  /** Works until the leadership ends. After `stop` nothing new starts, and running writes end. */
  run(): Promise<void>;
}
