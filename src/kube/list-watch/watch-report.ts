import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import { isForbidden, isNotFound, isUnauthorized } from "../api/api-failure.ts";
import { grantText, resources } from "../api/resources.ts";
import { truncateUtf8 } from "../events/event-object.ts";
import type { ApiClient } from "../http/client.ts";
import type { WatchContext } from "./paged-list.ts";

type ReportedWatch = Pick<WatchContext, "clock" | "log" | "what" | "resource" | "namespace" | "fieldSelector"> & {
  readonly client: Pick<ApiClient, "isUnreachable">;
};

/** Maximum length of an error in a reason, in bytes. The message of a server has none. */
const maxErrorBytes = 300;

/** Interval of an unchanged message. */
const repeatAfterMs = 600_000;

/**
 * Creates a report with one line for each failure. Logs a single broken connection as information, and a problem that a
 * person must solve as an error immediately. Repeats an unchanged message every 10 minutes, and logs once that the problem is
 * over. {@link Reachability} reports for all watches that the server does not respond at all.
 */
export function createWatchReport(watch: ReportedWatch) {
  const { client, log, clock, what } = watch;
  let reported: { readonly message: string; readonly at: number } | undefined;
  /** Reports a failure that came after `failures` others in a row. */
  const failed = (error: unknown, failures: number) => {
    const problem = problemOf(watch, error);
    const fields = { watch: what, ...(problem && { next: problem.next }), error: errorText(error) };
    if (problem === undefined && failures === 0) return log.info("a watch broke, resuming", fields);
    if (problem === undefined && client.isUnreachable?.()) return log.debug("cannot resume a watch", fields);
    const message = problem === undefined ? logMessages.watchFailed : logMessages.watchRefused(problem.state);
    if (reported?.message === message && clock.monotonic() - reported.at < repeatAfterMs)
      return log.debug(message, fields);
    reported = { message, at: clock.monotonic() };
    if (problem === undefined) log.warn(message, fields);
    else log.error(message, fields);
  };
  const well = () => {
    if (reported === undefined) return;
    reported = undefined;
    log.info("a watch works again", { watch: what });
  };
  return { failed, well };
}

/** Returns in one line why a list or watch failed, with the next step if it is known. */
export function listFailureText(watch: ReportedWatch, error: unknown): string {
  const problem = problemOf(watch, error);
  return problem === undefined
    ? `cannot list ${watch.what}: ${truncateUtf8(errorText(error), maxErrorBytes)}`
    : `cannot watch ${watch.what}: ${problem.state}. ${problem.next}.`;
}

function problemOf(
  watch: ReportedWatch,
  error: unknown,
): { readonly state: string; readonly next: string } | undefined {
  const { apiVersion, plural } = watch.resource;
  if (isForbidden(error)) return { state: "forbidden", next: grantNeeded(watch) };
  if (isUnauthorized(error))
    return { state: "the API server does not accept the credentials", next: "Check the credentials" };
  if (isNotFound(error))
    return { state: "the API server does not serve the resource", next: `Install ${plural} of ${apiVersion}` };
  return undefined;
}

/** Returns the name of the only watched object; undefined if the watch may have several. */
export function nameIn({
  resource,
  namespace,
  fieldSelector,
}: Pick<WatchContext, "resource" | "namespace" | "fieldSelector">): string | undefined {
  if (resource.namespaced && namespace === undefined) return undefined;
  return /^metadata\.name=(.+)$/.exec(fieldSelector ?? "")?.[1];
}

/** Returns the advice to grant list and watch. */
export function grantToWatch(watch: Pick<WatchContext, "resource" | "namespace" | "fieldSelector">): string {
  return grantText("list and watch", { ...watch, name: nameIn(watch) });
}

/** Returns the advice to grant what a watch needs. Of the Namespace in which it is, a Role can allow only get. */
function grantNeeded(watch: ReportedWatch): string {
  const name = nameIn(watch);
  if (watch.resource.plural !== resources.namespaces.plural || name === undefined) return grantToWatch(watch);
  return `${grantText("get", { ...watch, namespace: name, name })}, or list and watch with a ClusterRole (resourceNames: ${name})`;
}
