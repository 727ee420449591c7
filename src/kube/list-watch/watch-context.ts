import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { ConnectionError } from "../api/api-failure.ts";
import type { KubeObject } from "../api/api-types.ts";
import type { Resource } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";
import type { DigestedKind } from "../http/value-digests.ts";

/**
 * An event of a list-watch. Between `init` and `initDone` there is one `initApply` for each object that exists: all other known
 * objects are gone. `init` may occur again before `initDone`: then discard the events since the previous `init`.
 */
export type ReflectorEvent<T extends KubeObject> =
  | { readonly type: "init" }
  /** The list failed before anything is known. `reason` is one line for a person. The list is retried. */
  | { readonly type: "initFailed"; readonly reason: string }
  | { readonly type: "initApply"; readonly object: T }
  | { readonly type: "initDone" }
  | { readonly type: "apply"; readonly object: T }
  | { readonly type: "delete"; readonly object: T };

/** Options of {@link listWatch}. */
export interface ListWatchOptions {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** See {@link ApiRequest.digestsOf}. */
  readonly digestsOf?: DigestedKind | undefined;
  /** Whether the API server sends only the metadata of objects. Default: whole objects. */
  readonly metadataOnly?: boolean | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly random?: () => number;
  /** Called for all data from the server, including bookmarks. */
  readonly heard?: (() => void) | undefined;
  /** Called when the watch may miss changes from now on, and when it has all of them again. */
  readonly lost?: (() => void) | undefined;
  readonly resumed?: (() => void) | undefined;
  /** Called when the server ends a watch, after minutes. If true, everything is listed again. Default: false. */
  readonly shouldRelist?: (() => boolean) | undefined;
  /**
   * Reports whether the API may lack the resource, because it is not installed. There are no objects then, and the resource is
   * checked for every 30 s. Default: false, the resource is required.
   */
  readonly mayBeAbsent?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Context that the parts of one list-watch share. */
export interface WatchContext extends ListWatchOptions {
  readonly random: () => number;
  /** For messages: "secrets", or "secrets in default". */
  readonly what: string;
  readonly path: string;
}

/**
 * Yields the chunks of a stream and aborts `silent` if no chunk arrives for `limitMs`. Uses one timer for the whole stream. On
 * HTTP/2 pings detect a lost peer much earlier. This timeout is for HTTP/1.1 and for servers that lost a request.
 */
export async function* withIdleTimeout(
  stream: AsyncIterable<Buffer>,
  options: {
    readonly clock: Clock;
    readonly limitMs: number;
    readonly silent: AbortController;
    /** Request for the error, such as "watch secrets". */
    readonly what: string;
    readonly heard?: ((chunk: Buffer) => void) | undefined;
  },
): AsyncGenerator<Buffer> {
  const { clock, limitMs, silent, what, heard } = options;
  let lastHeard = clock.monotonic();
  let cancel = () => {};
  const wait = (ms: number) => {
    cancel = clock.timer(ms, () => {
      const left = lastHeard + limitMs - clock.monotonic();
      if (left > 0) wait(left);
      else silent.abort(new ConnectionError(`${what}: no data for ${limitMs / 1000} s`));
    });
  };
  wait(limitMs);
  try {
    for await (const chunk of stream) {
      lastHeard = clock.monotonic();
      heard?.(chunk);
      yield chunk;
    }
  } finally {
    cancel();
  }
}
