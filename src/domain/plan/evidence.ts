import { type Config, changedBefore, changedBeforeWrite, contentChangedAt } from "../config/digest.ts";
import type { UnprovenTimes } from "../config/hash.ts";
import { findConfig, type Lookup } from "../config/view-of-references.ts";
import { hasOneTemplate, type TemplateWrite, type Workload } from "../model/workload-shape.ts";
import type { ListedPods, Moment } from "../pacing/moment.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { formatTime } from "../syntax/time.ts";

/**
 * Whether the Pods of a workload read what is live. "unlisted": a list of its Pods, with the resourceVersion `upTo` or a later one, may prove
 * it. "underWay": Kubernetes is replacing them after a later write of the pod template. `changedAt` is the last change of what they read, and
 * `podsAt` the time at which the first Pod got its node, in seconds since the epoch; 0 if unknown.
 */
export type Evidence =
  | { readonly state: "proven" }
  | { readonly state: "unlisted"; readonly upTo: number }
  | { readonly state: "unproven" | "underWay"; readonly changedAt: number; readonly podsAt: number };

/** Changes that the watch has shown are so recent, in seconds: a workload that has not changed since has older Pods. */
const recentS = 60;

/** How long before the start of a container its environment may have been read, and clocks of nodes may differ, in seconds. */
const startMarginS = 5;

/**
 * Returns whether the Pods of a workload read what is live: a Pod does if it got its node after the last change of everything that it reads. A
 * container that started after the change of an environment variable has read it again. Files show a change only later.
 * A Pod that got its node while an object did not exist that its pod template requires has waited for it.
 * Times of the API are whole seconds, so in one second only resourceVersions, which a watch has shown, order two changes. The creation of the
 * workload after that change is enough: all of its Pods are created later. A later write of the pod template is not: it may restore an
 * earlier one, whose Pods are still there. `pods` is undefined if they were not listed. What an earlier list proves stays proven: Pods that
 * were created since, or got their node since, are newer. `now` is in milliseconds since the epoch. Returns undefined if a hash replaces no Pods.
 */
export function evidenceOf(
  workload: Workload,
  references: readonly Reference[],
  lookup: Lookup,
  { pods, now, absentSince }: Pick<Moment, "pods" | "now" | "absentSince">,
): Evidence | undefined {
  const { strategy, row, templateWrite, progress, peer } = workload;
  // A hash on the workload replaces no Pods.
  if (!strategy.podsCarryHash) return undefined;
  const nothing = { state: "unproven", changedAt: 0, podsAt: scheduledAtOf(pods) } as const;
  if (row.replicaSetLabel === undefined) return nothing;
  // An object that a regular expression matched, and that was deleted, is unknown.
  if (peer !== undefined && peer.patterns.length > 0) return nothing;
  const configs: Config[] = [];
  const absent: ConfigName[] = [];
  for (const reference of references) {
    if (reference.reads === "existence") continue;
    const config = findConfig(lookup, reference);
    // A class is read whenever a Pod mounts it.
    if (reference.kind === "SecretProviderClass") return nothing;
    if (config !== undefined) configs.push(config);
    // Pods may have read an object that was deleted.
    else if (absentSince?.(reference) === undefined) return nothing;
    else absent.push(reference);
  }
  const isAfterChanges =
    templateWrite !== undefined && configs.every((config) => changedBeforeWrite(config, templateWrite));
  const isLaterWrite = isAfterChanges && absent.length === 0;
  if (isLaterWrite && templateWrite.isFirst) return { state: "proven" };
  const times = {
    changedAt: configs.reduce((last, config) => Math.max(last, contentChangedAt(config) ?? 0), 0),
    podsAt: nothing.podsAt,
  };
  if (isLaterWrite && progress.state === "progressing") return { state: "underWay", ...times };
  // No container of a Pod starts without an object that all of them require. So a Pod of that time has read nothing earlier.
  const isOptional = (object: ConfigName) => (each: Reference) =>
    configKey(each) === configKey(object) && (each.optional || each.annotation !== undefined);
  const wasRequired = (config: Config) => config.wasAbsentSince !== undefined && !references.some(isOptional(config));
  const changedUpTo = configs.reduce((last, { revision = 0 }) => Math.max(last, revision), 0);
  const unlisted = { state: "unlisted", upTo: Math.max(changedUpTo, workload.resourceVersion) } as const;
  const withoutList = () => {
    const isLater = configs.some((config) => {
      if (wasRequired(config)) return false;
      const changedAt = contentChangedAt(config) ?? 0;
      return (config.revision ?? 0) > workload.resourceVersion && now / 1000 - changedAt < recentS;
    });
    return isLater ? nothing : unlisted;
  };
  if (pods === undefined) return withoutList();
  // A hash in the pod template of a workload without Pods replaces nothing.
  const { times: { scheduledAt, envAt } = { scheduledAt: 0, envAt: 0 }, listedUpTo } = pods;
  // The list shows no Pod without a node that gets it before a later change. Wave lists Pods only after the first lists of its caches, which have the
  // content of objects without a revision.
  const isBefore = (config: Config, at: number) =>
    changedBefore(config, at) &&
    (config.revision === undefined ? Number.isFinite(at) || at === scheduledAt : config.revision <= listedUpTo);
  const files = new Set(references.filter(({ reads }) => reads === "files").map(configKey));
  const changes = [
    ...configs.map((config) => ({
      object: config,
      isBefore: (at: number) => isBefore(config, at),
      wasAwaited: wasRequired(config) && isAbsentBefore(config.wasAbsentSince, scheduledAt, pods),
    })),
    ...absent.map((object) => ({
      object,
      isBefore: (at: number) => isAbsentBefore(absentSince?.(object), at, pods),
      wasAwaited: false,
    })),
  ];
  if (changes.every((change) => change.isBefore(scheduledAt))) return { state: "proven" };
  const isRead = ({ object, wasAwaited, ...change }: (typeof changes)[number]) =>
    wasAwaited ||
    change.isBefore(scheduledAt) ||
    (!files.has(configKey(object)) && change.isBefore(envAt - startMarginS));
  if (changes.every(isRead)) {
    // Pods of an earlier pod template may have started without the object, and their containers may have read no variables.
    if (templateWrite?.isFirst || hasOneTemplate(workload)) return { state: "proven" };
    if (progress.state === "progressing" && !pods.isEarlier) return { state: "underWay", ...times };
  }
  // Its Pods may not exist yet.
  const wasAbsent = (object: ConfigName) => isAbsentBefore(absentSince?.(object), templateWrite?.at ?? 0, pods);
  if (isAfterChanges && templateWrite.isFirst && absent.every(wasAbsent)) return { state: "proven" };
  if (pods.isEarlier) return withoutList();
  if (isLaterWrite && isOfTemplate(workload, templateWrite, scheduledAt)) return { state: "proven" };
  // The workload is new: its first Pods got their nodes after the list, and a later one may prove more.
  const hasNode = pods.times !== undefined && Number.isFinite(scheduledAt);
  if (!hasNode && progress.state !== "idle" && listedUpTo < changedUpTo) return unlisted;
  return absent.length > 0 ? nothing : { state: "unproven", ...times };
}

/** How far the clocks of API servers may differ, in seconds, and the monotonic clock of this process, as a part of the time that it measures. */
const clocks = { serversS: 5, monotonic: 0.05 };

/** Reports whether an object was absent before a time of the API, in seconds. */
function isAbsentBefore(since: number | undefined, at: number, { requested }: ListedPods): boolean {
  if (since === undefined || requested === undefined || since > requested.monotonic) return false;
  const agoS = ((requested.monotonic - since) / 1000) * (1 - clocks.monotonic);
  return at > requested.serverTime - agoS + clocks.serversS;
}

/** Reports whether all Pods were created after a write of the pod template: in the same second, the status before and after it must show it. */
function isOfTemplate(workload: Workload, { at, hasOnlyNewPods }: TemplateWrite, scheduledAt: number): boolean {
  if (at === undefined) return false;
  return at < scheduledAt || (at === scheduledAt && hasOnlyNewPods && hasOneTemplate(workload));
}

/** Returns when the first Pod got its node, in seconds since the epoch; 0 if unknown: there may be other Pods than in an earlier list. */
function scheduledAtOf(pods: ListedPods | undefined): number {
  const { scheduledAt = 0 } = (!pods?.isEarlier && pods?.times) || {};
  return Number.isFinite(scheduledAt) ? scheduledAt : 0;
}

/** Returns that Pods may run an earlier configuration, why, and the next step. `toRoll`: the arguments of `wave roll`. */
export function unprovenText({ changedAt, podsAt }: UnprovenTimes, toRoll: string): string {
  const why =
    changedAt === 0 || podsAt === 0
      ? "The API does not show what they read"
      : `The configuration changed at ${formatTime(changedAt * 1000)}, and the oldest Pod was scheduled at ${formatTime(podsAt * 1000)}`;
  return `The Pods may run an earlier configuration. ${why}. To restart the Pods, run: wave roll ${toRoll}`;
}
