import type { Caches } from "../cache/cluster-cache.ts";
import type { ClusterPolicy } from "../domain/policy/policy.ts";
import type { ObjectEvent } from "../kube/events/event-object.ts";
import type { ApiClient } from "../kube/http/client.ts";
import type { Leadership, WritePermits } from "../runtime/write-permits.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";

/** What all controllers share, for one leadership. */
interface LeaderContext extends Omit<ProcessContext, "metrics"> {
  readonly client: Pick<ApiClient, "request">;
  readonly policy: ClusterPolicy;
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
