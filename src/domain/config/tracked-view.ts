import { isOfKind, type TemplateSource } from "../model/kind-row.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import { isOptedIn, type Rules } from "../policy/rules.ts";
import { allowWorkloadRef, workloadRefHash } from "../references/annotations.ts";
import { type ConfigName, configKey, limits } from "../references/references.ts";
import { invalidAnnotationTexts, type Warning, wholeObjectText } from "../references/warning.ts";
import { equalJson, fieldsOf } from "../syntax/json.ts";
import { formatCount, isDnsSubdomain, quoted } from "../syntax/names.ts";
import { asWhole, type Config, isWhole } from "./digest.ts";
import { type ConfigView, matchesView, recordedConfigFor, viewOf } from "./hash.ts";
import type { RecordedClasses } from "./recorded-digests.ts";
import { type TrackedReferences, trackedReferences } from "./tracked-references.ts";
import {
  type Change,
  changesBetween,
  countKeys,
  describeObject,
  findConfig,
  type Lookup,
  limitExceededBy,
  viewOfReferences,
} from "./view-of-references.ts";

/** The views of a workload: what new Pods would read, of tracked objects and of all objects. */
export interface TrackedViews {
  /** The view of tracked objects. It contains the full hash if that differs. */
  readonly tracked: ConfigView;
  /** The view of all objects, tracked or not; undefined if it exceeds a limit. */
  readonly full: ConfigView | undefined;
  /**
   * The tracked view with only the recorded SecretProviderClasses: without classes that have no recorded version yet, and with
   * recorded classes that are no longer referenced. Undefined if it equals `tracked`.
   */
  readonly asRecorded: ConfigView | undefined;
  /** Why objects are not tracked, by the key of the object. */
  readonly untracked: TrackedReferences["untracked"];
}

/** Returns the views of what new Pods would read, hashed with the current key. */
export function trackedViews(
  { references, all, untracked, lookup }: TrackedReferences,
  keys: HashKeys | undefined,
  classes: RecordedClasses,
): TrackedViews {
  const { view, asRecorded } = withRecordedClasses(references, lookup, keys, classes);
  if (untracked.size === 0) return { tracked: view, full: view, asRecorded, untracked };
  const full = limitExceededBy(all, lookup) === undefined ? viewOfReferences(all, lookup, keys?.current) : undefined;
  const differs = full !== undefined && full.hash !== view.hash;
  return { tracked: differs ? { ...view, fullHash: full.hash } : view, full, asRecorded, untracked };
}

/** Returns the view of the references with the class versions to record, and the view of the recorded classes only. */
function withRecordedClasses(
  references: TrackedReferences["references"],
  lookup: TrackedReferences["lookup"],
  keys: HashKeys | undefined,
  { isUnrecorded, dropped, toRecord }: RecordedClasses,
): { readonly view: ConfigView; readonly asRecorded: ConfigView | undefined } {
  const view = viewOfReferences(references, lookup, keys?.current);
  const [recordedClasses, droppedEntries] = [toRecord(references), dropped(references)];
  if (recordedClasses === undefined && droppedEntries.length === 0) return { view, asRecorded: undefined };
  const recorded = view.entries.filter((entry) => !isUnrecorded(entry));
  const isSame = recorded.length === view.entries.length && droppedEntries.length === 0;
  return {
    view: { ...view, recordedClasses },
    asRecorded: isSame ? undefined : viewOf([...recorded, ...droppedEntries], keys?.current),
  };
}

/**
 * Returns the tracked view to record if the recorded hash differs from it only because other objects are tracked now, for
 * example because an object is ignored or excluded, or no longer is. The Pods still read the same configuration. Returns
 * undefined if the Pods read another configuration, or if this is unknown.
 *
 * `recordedView` is the view of the recorded hash, if it is known. Then changes of untracked objects are allowed: the Pods keep
 * what they read of such an object, and are replaced when the object is tracked again.
 */
export function membershipChange(
  workload: Workload,
  { tracked, full, untracked }: TrackedViews,
  recordedView: ConfigView | undefined,
  keys: HashKeys | undefined,
): ConfigView | undefined {
  const recorded = recordedFullHash(workload);
  if (recorded === undefined) return undefined;
  const isFullRecorded = untracked.size === 0 && !recorded.isFullHash;
  if (!isFullRecorded && full !== undefined && matchesView(recorded.hash, full, keys)) return tracked;
  const unchanged = untracked.size > 0 ? { ...tracked, fullHash: recorded.hash } : tracked;
  // The hash was written for this same configuration before the annotation, and could not be written again.
  if (recorded.isFullHash && matchesView(workload.recordedHash ?? "", tracked, keys)) return unchanged;
  const isUntracked = (change: Change) => untracked.has(configKey(change));
  if (recordedView === undefined || !changesBetween(recordedView, tracked).every(isUntracked)) return undefined;
  return unchanged;
}

/**
 * Returns the tracked view to record under the current key. It keeps the recorded full hash, even if untracked objects have
 * changed since.
 */
export function underCurrentKey(
  workload: Workload,
  { tracked, full }: TrackedViews,
  keys: HashKeys | undefined,
): ConfigView {
  const recorded = recordedFullHash(workload);
  if (recorded === undefined || (full !== undefined && matchesView(recorded.hash, full, keys))) return tracked;
  return { ...tracked, fullHash: recorded.hash };
}

/**
 * Returns the recorded hash of all objects that the Pods read, tracked or not: the recorded full hash, or the hash in the annotation or in the
 * pod template, from when all objects were tracked.
 */
function recordedFullHash({ recordedHash, recordedConfig }: Workload) {
  const config = recordedConfigFor(recordedHash ?? "", recordedConfig);
  const hash = config?.fullHash ?? config?.hash ?? recordedHash;
  return hash === undefined ? undefined : { hash, isFullHash: config?.fullHash !== undefined };
}

/**
 * The recorded hash of a workload while Wave writes its template source. No configuration has this hash. So after a crash
 * between the two writes a rollout is due, even if the edit was reverted meanwhile.
 */
export const rollInProgress = `v2:${"0".repeat(64)}`;

/** Reports whether Wave can read the pod template of an object of this kind and name: only Deployments are supported. */
export function isTemplateSource(templateSource: TemplateSource): boolean {
  return isOfKind(templateSource, kinds.Deployment) && isDnsSubdomain(templateSource.name);
}

/** Returns the warning for a workload whose template source could not be read; undefined if it could. */
export function missingTemplateWarning({ templateSource }: Pick<Workload, "templateSource">): Warning | undefined {
  if (templateSource === undefined || templateSource.generation !== undefined) return undefined;
  const source = `${quoted(templateSource.kind)} ${quoted(templateSource.name)}`;
  const message = isTemplateSource(templateSource)
    ? invalidAnnotationTexts.templateSourceMissing(source)
    : invalidAnnotationTexts.templateSourceUnsupported(source);
  return { reason: "InvalidAnnotation", message };
}

/**
 * Reports whether Wave may write the hash of another workload into the pod template of a Deployment. The write restarts its Pods. So the
 * Deployment has opted in, or its annotation allows the write, or it has no Pods.
 */
export function allowsWorkloadRef({ spec, metadata }: WorkloadObject, source: DecidedWorkload): boolean {
  if (fieldsOf(spec).replicas === 0 || isOptedIn(source.workload, source.rules)) return true;
  return metadata?.annotations?.[allowWorkloadRef] === "true";
}

interface DecidedWorkload {
  readonly workload: Workload;
  readonly rules: Rules;
}

/**
 * Returns the annotation of the template source that contains the hash of a workload with a workloadRef. Each workload has its
 * own rules, because their regular expressions differ. If the template source
 * has not opted in, or tracks the same objects, it is the hash annotation of the template source: then an edit changes the
 * template once. Otherwise it is a separate annotation, so that the two workloads do not overwrite each other.
 */
export function workloadRefAnnotation(
  templateSource: DecidedWorkload,
  withRef: DecidedWorkload,
  lookup: Lookup,
): string {
  const tracked = ({ workload, rules }: DecidedWorkload) => trackedReferences(workload, lookup, rules).references;
  const differs =
    isOptedIn(templateSource.workload, templateSource.rules) && !equalJson(tracked(templateSource), tracked(withRef));
  return differs ? workloadRefHash : templateSource.workload.hashAnnotation;
}

/**
 * Returns the tracked references with a lookup that has objects with too many keys as a whole: the hash then has one digest for
 * all data of such an object. If the Pods read more keys than the limit, the objects with most keys are whole, until the others
 * are within the limit. So a client that may edit one object cannot stop rollouts for the others.
 */
export function withWholeObjects(
  tracked: TrackedReferences,
  workloadNamespace: string,
): { readonly tracked: TrackedReferences; readonly warnings: readonly Warning[] } {
  let keys = 0;
  let isAnyWhole = false;
  for (const reference of tracked.references) {
    const config = findConfig(tracked.lookup, reference);
    keys += countKeys(reference, config);
    isAnyWhole ||= config !== undefined && isWhole(config);
  }
  // Almost every workload: nothing more is computed.
  if (!isAnyWhole && keys <= limits.keys.max) return { tracked, warnings: [] };
  const read = new Map<string, Config>();
  const times = new Map<string, number>();
  for (const reference of tracked.references) {
    const config = findConfig(tracked.lookup, reference);
    if (config === undefined || config.kind === "SecretProviderClass") continue;
    const key = configKey(config);
    if (reference.keys === "all" || isWhole(config)) read.set(key, config);
    if (reference.keys === "all") times.set(key, (times.get(key) ?? 0) + 1);
  }
  const whole = new Map<string, Config>();
  const warnings: Warning[] = [];
  const add = (key: string, config: Config, count: number) => {
    whole.set(key, config);
    warnings.push({ reason: "OverLimit", message: textOf(config, count, workloadNamespace) });
  };
  for (const [key, config] of read) if (isWhole(config)) add(key, config, config.limitExceeded?.count ?? 0);
  const inOrder = [...read].filter(([key]) => !whole.has(key)).sort(byKeys);
  for (const [key, config] of inOrder) {
    if (keys <= limits.keys.max) break;
    keys -= (times.get(key) ?? 0) * (config.keys.length - 1);
    add(key, asWhole(config), config.keys.length);
  }
  const lookup: TrackedReferences["lookup"] = (kind, namespace, name) =>
    whole.get(configKey({ kind, namespace, name })) ?? tracked.lookup(kind, namespace, name);
  return { tracked: { ...tracked, lookup }, warnings };
}

/** Compares by the number of keys, most first, and then by name. */
function byKeys(
  [a, { keys: most }]: readonly [string, Config],
  [b, { keys: fewer }]: readonly [string, Config],
): number {
  return fewer.length - most.length || (a < b ? -1 : 1);
}

function textOf(config: ConfigName, count: number, workloadNamespace: string): string {
  return wholeObjectText(describeObject(config, workloadNamespace), formatCount(count), formatCount(limits.keys.max));
}
