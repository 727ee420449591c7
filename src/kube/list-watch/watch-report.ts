import { errorText } from "../../telemetry/logging/error-text.ts";
import { isForbidden, isNotFound, isUnauthorized } from "../api/errors.ts";
import type { ApiClient } from "../http/client.ts";
import type { WatchContext } from "./watch-context.ts";

/** Tells a person what a watch suffers from. */
export interface WatchReport {
  /** A failure; `failures` came one after the other before it. */
  readonly failed: (error: unknown, failures: number) => void;
  /** It goes well, again. */
  readonly well: () => void;
}

/** The part of a watch's context that is needed to speak of it. */
type Watched = Pick<WatchContext, "clock" | "log" | "what" | "resource" | "namespace" | "fieldSelector"> & {
  readonly client: Pick<ApiClient, "isUnreachable">;
};

const sayAgainMs = 600_000;

/**
 * One line a failure: a first broken connection is an ordinary day, what needs somebody to act is an error at once. The
 * same again is said every 10 minutes only, and once when it is over. That nothing answers at all is told for all watches at
 * once, by {@link Reachability}.
 */
export function createWatchReport(context: Watched): WatchReport {
  const { client, log, clock, what } = context;
  let said: { readonly line: string; readonly at: number } | undefined;
  const failed = (error: unknown, failures: number) => {
    const line = problem(context, error);
    const fields = { error: errorText(error) };
    if (line === undefined && failures === 0) return log.info(`the watch of ${what} broke; resuming it`, fields);
    if (line === undefined && client.isUnreachable?.())
      return log.debug(`the watch of ${what} cannot be resumed`, fields);
    const message = line ?? `cannot watch ${what}; trying again until it can`;
    if (said?.line === message && clock.monotonic() - said.at < sayAgainMs) return log.debug(message, fields);
    said = { line: message, at: clock.monotonic() };
    if (line === undefined) log.warn(message, fields);
    else log.error(message, fields);
  };
  const well = () => {
    if (said === undefined) return;
    said = undefined;
    log.info(`watching ${what} again`);
  };
  return { failed, well };
}

/** Why a list or watch failed, in one line for a person, and what to do where that is known. */
export function listFailureText(context: Watched, error: unknown): string {
  return problem(context, error) ?? `cannot list ${context.what}: ${cut(errorText(error))}`;
}

/** A server's words may be as long as it likes. */
function cut(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

/** What RBAC calls a resource that is not of the core group: `deployments.apps`. */
function rbacName({ apiVersion, plural }: Watched["resource"]): string {
  const [group, version] = apiVersion.split("/");
  return version === undefined ? plural : `${plural}.${group}`;
}

/** What only a person can mend, and how. */
function problem({ what, resource, namespace, fieldSelector }: Watched, error: unknown): string | undefined {
  if (isForbidden(error)) {
    const all = resource.namespaced ? " in all namespaces" : "";
    const [, name] = /^metadata\.name=(.+)$/.exec(fieldSelector ?? "") ?? [];
    const where =
      namespace === undefined ? (name === undefined ? all : ` of the name ${name}`) : ` in namespace ${namespace}`;
    return `cannot watch ${what}: allow this user "list" and "watch" on ${rbacName(resource)}${where}`;
  }
  if (isUnauthorized(error)) return `cannot watch ${what}: the API server does not accept the credentials`;
  if (isNotFound(error))
    return `cannot watch ${what}: the API server does not know ${resource.plural} of ${resource.apiVersion}`;
  return undefined;
}
