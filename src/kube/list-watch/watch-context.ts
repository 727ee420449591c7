import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { KubeObject } from "../api/api-types.ts";
import type { Resource } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";

/**
 * What a reflector is told. Between `init` and `initDone` come all objects that exist now, as `initApply`: what was known
 * before and is not among them is gone. An `init` may come again before `initDone`: what came since the first is void.
 */
export type ReflectorEvent<T extends KubeObject> =
  | { readonly type: "init" }
  /** Nothing is known yet, and the list failed: `why` says for a person, in one line. It is tried again. */
  | { readonly type: "initFailed"; readonly reason: string }
  | { readonly type: "initApply"; readonly object: T }
  | { readonly type: "initDone" }
  | { readonly type: "apply"; readonly object: T }
  | { readonly type: "delete"; readonly object: T };

/** What to list and watch, and with what. */
export interface ListWatchOptions {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly random?: () => number;
  /** Called whenever anything comes from the server, bookmarks included. */
  readonly heard?: (() => void) | undefined;
  /** Asked when the server ends a watch, after minutes: whether to list everything again instead of going on. Default: no. */
  readonly shouldRelist?: (() => boolean) | undefined;
  /**
   * Whether the API may have no such resource, because nobody installed it: then there are no objects of it, until it is
   * there, which is looked for every half a minute. Default: no, it is waited for.
   */
  readonly mayBeAbsent?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** What the parts of one list-watch share. */
export interface WatchContext extends ListWatchOptions {
  readonly random: () => number;
  /** For messages: "secrets", or "secrets in default". */
  readonly what: string;
  readonly path: string;
}
