import { configResources } from "../../../cache/live/live-configs.ts";
import { parseWorkloadKey, type Workload } from "../../../domain/model/workload-shape.ts";
import type { BatchAdmission, UnusableValidator } from "../../../domain/pacing/batches.ts";
import { type ConfigName, isStored } from "../../../domain/references/references.ts";
import { formatCount, formatList, quoted, waveArguments } from "../../../domain/syntax/names.ts";
import { type KubeObject, metadataOnly, resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { logMessages } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { eventTexts, type WorkloadEvent } from "./event-texts.ts";

const timeoutMs = 10_000;

/** What {@link postConfigEvent} needs. */
export interface ConfigEventOptions extends LeaderParts<"client" | "post"> {
  readonly signal: AbortSignal;
}

/**
 * Posts an Event on an object of configuration. The Event needs the uid of the object, by which `kubectl describe` finds the Event; the caches
 * do not keep the uid. Never rejects.
 */
export async function postConfigEvent(
  object: ConfigName,
  event: WorkloadEvent,
  { client, post, signal }: ConfigEventOptions,
): Promise<void> {
  const { kind, namespace, name } = object;
  const { apiVersion, ...resource } = isStored(object) ? configResources[object.kind] : resources.secretProviderClasses;
  const path = resourcePath({ apiVersion, ...resource }, { namespace, name });
  const uid = await (isStored(object) ? uidOf(path, client, signal) : "");
  if (!signal.aborted) post({ regarding: { apiVersion, kind, namespace, name, uid }, ...event });
}

/** Limit of the ConfigMaps on which one return is reported. The Event on the workload names the number of all of them. */
const maxReturned = 5;

/** Posts on ConfigMaps that a workload does not read their last change any more, because its rollout failed. */
export function postReturn(workload: Workload, names: readonly string[], options: ConfigEventOptions): void {
  const { kind, namespace } = workload;
  const message = eventTexts.changeReturned(`${kind} ${quoted(workload.name)}`, waveArguments(workload));
  const event = { type: "Warning", reason: "RolloutReturned", message } as const;
  for (const name of names.slice(0, maxReturned))
    void postConfigEvent({ kind: "ConfigMap", namespace, name }, event, options);
}

/** Returns "" if the uid cannot be read: the object may be deleted, and the deletion may be the change. */
function uidOf(path: string, client: Pick<ApiClient, "request">, signal: AbortSignal): Promise<string> {
  return client
    .request<KubeObject>({ method: "GET", path, accept: metadataOnly, timeoutMs, signal })
    .then(({ metadata }) => metadata.uid ?? "")
    .catch(() => "");
}

/** The halted change of an object in one namespace. */
export interface HaltedChange {
  readonly object: ConfigName;
  readonly namespace: string;
  /** The keys of the failed workloads; undefined if the change is no longer halted. */
  readonly failed: readonly string[] | undefined;
  /** The text of the halt if a validator is its cause. */
  readonly refusal?: string | undefined;
  /** As in {@link ObjectEvent}. */
  readonly repeats?: ObjectEvent["repeats"];
}

/** What was reported about the halt of a change. */
export interface HaltReports {
  /** When the halt was last reported on the object, in monotonic milliseconds. */
  reportedAt: number;
  /** Whether the current halt was reported. */
  isReported: boolean;
  /** Whether the change was seen when it was not halted. Otherwise an earlier leader may have reported its halt. */
  wasOpen: boolean;
}

const shownWorkloads = 5;

/** As for the Events of workloads. */
const repeatAfterMs = 45 * 60_000;
/** A tenant whose rollouts fail and recover must not flood the other readers of the object with Events. */
const minReportIntervalMs = 60_000;

/**
 * Returns what to report now, and stores it in `reports`: a halt when it begins, again before its Event expires, and when it ends. Undefined if
 * there is nothing to report. `now` is in monotonic milliseconds.
 */
export function haltNews(
  reports: HaltReports,
  { halted, failed }: Pick<BatchAdmission, "halted" | "failed">,
  now: number,
): Pick<HaltedChange, "failed" | "repeats"> | undefined {
  const { isReported } = reports;
  if (!halted) {
    reports.wasOpen = true;
    reports.isReported = false;
    return isReported ? { failed: undefined } : undefined;
  }
  if (now < reports.reportedAt + (isReported ? repeatAfterMs : minReportIntervalMs)) return undefined;
  reports.isReported = true;
  reports.reportedAt = now;
  return { failed: [...failed], repeats: isReported ? "reported" : reports.wasOpen ? undefined : "perhaps" };
}

/** A change that a validator cannot check, and that goes on. */
export interface UnvalidatedChange extends Pick<HaltedChange, "object" | "namespace"> {
  readonly validator: UnusableValidator;
}

/** Reports by an Event on the object that a validator cannot check its change. Never rejects. */
export async function reportUnvalidated(
  { object, namespace, validator }: UnvalidatedChange,
  options: ConfigEventOptions,
): Promise<void> {
  const { kind, name } = parseWorkloadKey(validator.key);
  const shown = object.namespace === namespace ? `validator ${kind} ${quoted(name)}` : "a validator";
  const message = eventTexts.notValidated(placeOf(object, namespace), shown, validator.why);
  await postConfigEvent(object, { type: "Warning", reason: "NotValidated", message, repeats: "perhaps" }, options);
}

/** Returns the namespace of the workloads, for a text, if the object is in another one. */
function placeOf(object: ConfigName, namespace: string): string {
  return object.namespace === namespace ? "" : ` in namespace ${quoted(namespace)}`;
}

/** Reports the beginning or the end of a halt by an Event on the object. Never rejects. */
export async function reportHalt(
  change: HaltedChange,
  options: ConfigEventOptions & LeaderParts<"log">,
): Promise<void> {
  const { kind, namespace, name } = change.object;
  const { namespace: workloadsIn, failed, repeats } = change;
  const about = { kind, namespace, name, workloadsIn };
  if (failed === undefined) options.log.info("rollout of a change no longer halted", about);
  else if (repeats !== "reported") options.log.warn(logMessages.changeHalted, { ...about, failed: failed.length });
  await postConfigEvent(change.object, { ...eventOf(change), ...(repeats && { repeats }) }, options);
}

/** Returns the Event. In another namespace it has no names of workloads: the owner of the object may not know them. */
function eventOf({ object, namespace, failed, refusal }: HaltedChange): WorkloadEvent {
  const place = placeOf(object, namespace);
  const isElsewhere = object.namespace !== namespace;
  if (failed === undefined) return { type: "Normal", reason: "RolloutResolved", message: eventTexts.haltEnded(place) };
  if (refusal !== undefined && !isElsewhere) return { type: "Warning", reason: "RolloutHalted", message: refusal };
  const names = formatList(failed, shownWorkloads, (key) => {
    const { kind, name } = parseWorkloadKey(key);
    return `${kind} ${quoted(name)}`;
  });
  const workloads = isElsewhere || failed.length === 0 ? `${formatCount(failed.length)} workloads` : names;
  const cause = refusal === undefined ? `${workloads} failed` : "a validator has not passed";
  const command =
    !isElsewhere && isStored(object)
      ? `you run: wave resume ${waveArguments(object)}`
      : "you run wave resume on the failed workloads";
  return { type: "Warning", reason: "RolloutHalted", message: eventTexts.changeHalted(place, cause, command) };
}
