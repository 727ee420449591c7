import type { ConfirmedRecord, ListedConfigs } from "../../../cache/live/listed-configs.ts";
import { type LegacyRead, liveLookup, readLegacy, readStoredConfig } from "../../../cache/live/live-configs.ts";
import { readEach, sharedReads } from "../../../cache/live/shared-reads.ts";
import { readWithBorrowedTemplate } from "../../../cache/workloads/workload-reads.ts";
import { isVerified, legacyVerificationOf, needsLegacyVerification } from "../../../domain/config/legacy-hash.ts";
import { grantedObjects } from "../../../domain/config/tracked-references.ts";
import type { Lookup } from "../../../domain/config/view-of-references.ts";
import { withoutReferences } from "../../../domain/model/cached-workload.ts";
import { resourceName } from "../../../domain/model/kind-row.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { RecordedCause, RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { pinsBeforeRollout } from "../../../domain/pinning/pin-request.ts";
import { uncachedCopies } from "../../../domain/pinning/pinned-lookup.ts";
import { planRollout } from "../../../domain/plan/plan.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import { type ConfigName, configKey, parseStoredKey, type StoredName } from "../../../domain/references/references.ts";
import { isDnsSubdomain } from "../../../domain/syntax/names.ts";
import { apiFailureOf, isForbidden, retryAfterMs } from "../../../kube/api/api-failure.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import type { Findings, Writable } from "../memory/workload-memory.ts";
import { refusedTexts, retriedTexts } from "../report/event-texts.ts";

/** What {@link planLive} needs. */
export interface LivePlanOptions extends LeaderParts<"clock" | "policy" | "leadership"> {
  readonly live: LiveReads;
  /** Reads the hash keys that other replicas have made. Rejects if they cannot be read. Undefined without hash keys. */
  readonly readHashKeys?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** A plan, and the workload that it is for. */
export interface Planned {
  readonly type: "planned";
  readonly workload: Workload;
  readonly plan: RolloutPlan;
  /** Finds what the plan was made from. */
  readonly lookup: Lookup;
}

/** Plans a workload from live reads by `planWith`. `cached` is its plan from the caches, which may be behind. */
export async function planLive(
  workload: Workload,
  cached: RolloutPlan,
  findings: Writable<Findings>,
  planWith: (workload: Workload, lookup: Lookup) => RolloutPlan,
  { live, clock, policy, readHashKeys, leadership }: LivePlanOptions,
): Promise<Planned | ReadFailure | { readonly type: "gone" }> {
  try {
    const isKnown = isVerified(workload, findings.legacy) && findings.legacy.isCurrent;
    const legacy =
      needsLegacyVerification(workload) && !isKnown
        ? await verifyLegacyHash(workload, findings, { live, policy })
        : undefined;
    if (legacy === "gone") return { type: "gone" };
    // Patches of other plans test what the plan was made from. For some kinds, opting in again raises no generation.
    const read = cached.outcome === "cleanUp" ? await live.workload(workload) : (legacy?.workload ?? workload);
    // If its namespace exceeds a limit, the caches track no references of this workload, so it is not planned by them.
    const newest =
      read && workload.limitExceeded?.limit === "namespace" ? withoutReferences(read, workload.limitExceeded) : read;
    if (newest === undefined) return { type: "gone" };
    const lookup = legacy?.lookup ?? (await readLookup(newest, cached, findings, { live, clock }));
    const plan = planWith(newest, lookup);
    if (plan.outcome !== "recorded" || isWithoutKeys(plan.cause) || readHashKeys === undefined) {
      return { type: "planned", workload: newest, plan, lookup };
    }
    // The hash may have a key that another replica has just made.
    const failure = await readHashKeys(leadership.abort).catch(errorText);
    if (failure !== undefined) return { type: "unavailable", workload, message: failure, retryAfterMs: 0 };
    return { type: "planned", workload: newest, plan: planWith(newest, lookup), lookup };
  } catch (error) {
    return readFailure(error, workload, leadership);
  }
}

/** Reads the configuration with which a plan from the caches is confirmed. */
function readLookup(
  workload: Workload,
  cached: RolloutPlan,
  { pods }: Findings,
  { live, clock }: Pick<LivePlanOptions, "live" | "clock">,
): Promise<Lookup> {
  if (!isFirst(workload, cached)) return live.lookup(workload);
  if (cached.outcome !== "recorded") return live.firstLookup(workload);
  if (cached.cause !== "proven") return live.firstLookup(workload, { notBefore: 0, isLasting: true });
  const { answeredAt } = (pods?.uid === workload.uid && pods.listed) || {};
  if (answeredAt === undefined) return live.firstLookup(workload, { notBefore: 0, isLasting: false });
  // A later status may be that of other Pods, which have read later edits. A Pod that is not available may still read one.
  const hasSamePods = pods?.progress === workload.progress;
  const isLasting = hasSamePods && workload.progress.state === "complete";
  return live.firstLookup(workload, { notBefore: hasSamePods ? answeredAt : clock.monotonic(), isLasting });
}

/** Reports whether a configuration is recorded for a reason that no hash key changes. */
function isWithoutKeys(cause: RecordedCause): boolean {
  return cause === "firstSight" || cause === "proven";
}

/** Reports whether a plan records the first hash of a workload, so that there is no newer hash that a write could revert. */
function isFirst({ recordedHash, recordedConfig }: Workload, plan: RolloutPlan): boolean {
  if (plan.outcome === "firstHash") return true;
  if (plan.outcome !== "recorded") return false;
  return plan.cause === "firstSight" || (recordedHash === undefined && recordedConfig === undefined);
}

/** Verifies whether the hash that another controller recorded matches the current configuration, and stores the result. */
async function verifyLegacyHash(
  workload: Workload,
  findings: Writable<Findings>,
  { live, policy }: Pick<LivePlanOptions, "live" | "policy">,
): Promise<LegacyRead | "gone"> {
  const read = await live.legacy(workload);
  if (read === undefined) return "gone";
  const plan = planRollout(read.workload, read.lookup, rulesFor(read.workload, policy));
  if ("view" in plan) {
    findings.legacy = legacyVerificationOf(read.workload, plan.view, read.hash === read.workload.recordedHash);
  }
  return read;
}

/** Reads from the API server, for workloads whose caches may be behind. Rejects with the errors of requests. */
export interface LiveReads {
  /**
   * Reads the references of a workload. In another namespace, only objects that are shared with it by the caches. Also reads the copies in
   * these annotations that the caches do not have yet. Default: in the pins of the workload, and those before its last rollout.
   */
  readonly lookup: (workload: Workload, pinned?: readonly (string | undefined)[]) => Promise<Lookup>;
  /**
   * Finds the references of a workload without a recorded hash, each as it was after the last write of the workload: by lists,
   * if many such workloads need objects of one namespace, and otherwise by reads. Returns the lookup of the caches if lists show that the
   * caches have all of them. `record`: the plan only records what Pods read.
   */
  readonly firstLookup: (workload: Workload, record?: ConfirmedRecord) => Promise<Lookup>;
  readonly exist: (objects: readonly ConfigName[]) => Promise<boolean>;
  /** Returns the workload as it is now; undefined if it is gone. */
  readonly workload: (before: Workload) => Promise<Workload | undefined>;
  /** Returns the workload, its configuration, and the hash that another controller would record; undefined if it is gone. */
  readonly legacy: (before: Workload) => Promise<LegacyRead | undefined>;
}

const timeoutMs = 10_000;
/** Maximum number of concurrent reads for one workload. */
const concurrency = 4;

/** Returns the live reads. Concurrent reads of one object share one request. `signal` ends all reads. */
export function createLiveReads({
  client,
  policy,
  caches: { lookup: cached, syncedUpTo, found: onFound },
  listed,
  signal,
}: LeaderParts<"client" | "policy", "lookup" | "syncedUpTo" | "found"> & {
  readonly listed: ListedConfigs;
  readonly signal: AbortSignal;
}): LiveReads {
  const bounds = { timeoutMs, signal };
  const read = sharedReads((key) => readStoredConfig(client, parseStoredKey(key), bounds, policy.compatibility));
  const readAll = async (objects: readonly StoredName[]) => {
    const found = await readEach(objects.map(configKey), read, concurrency);
    for (const [key, config] of found) if (config !== undefined && !config.isCopy) onFound(parseStoredKey(key));
    return found;
  };

  const objectsOf = (
    workload: Workload,
    pinned: readonly (string | undefined)[] = [workload.pinned, pinsBeforeRollout(workload)],
  ) => {
    const copies = policy.pinConfig ? uncachedCopies(workload, pinned, cached) : [];
    return [...grantedObjects(workload, cached, rulesFor(workload, policy)), ...copies];
  };

  return {
    lookup: async (workload, pinned) => liveLookup(await readAll(objectsOf(workload, pinned)), cached, syncedUpTo),
    firstLookup: async (workload, record) => {
      const objects = objectsOf(workload);
      const confirmed = await listed.confirmed(workload, objects, record);
      const others = objects.filter((object) => !confirmed.has(configKey(object)));
      if (others.length === 0) return cached;
      const found = await readAll(others);
      return liveLookup(new Map([...found, ...confirmed]), cached, syncedUpTo);
    },
    exist: async (objects) => {
      const configs = await Promise.all(objects.map((object) => read(configKey(object))));
      return configs.every((config) => config !== undefined);
    },
    workload: async (before) => {
      const object = await readWithBorrowedTemplate(client, before.row, before, bounds);
      return object && toWorkload(before.row, object, policy);
    },
    legacy: (before) => readLegacy(before, { client, policy, cached, syncedUpTo, signal }),
  };
}

/** How a run ends whose read failed. */
export type ReadFailure = Extract<ReconcileOutcome, { readonly type: "refused" | "unavailable" | "stopped" }>;

/** Returns how a run ends whose read of the configuration failed: nothing was written. Throws `error` itself if it is a bug. */
export function readFailure(error: unknown, workload: Workload, { abort }: Pick<Leadership, "abort">): ReadFailure {
  if (abort.aborted) return { type: "stopped" };
  if (isForbidden(error)) {
    const { row, namespace } = workload;
    return { type: "refused", workload, message: refusedTexts.forbiddenToRead(resourceName(row), namespace) };
  }
  const failure = apiFailureOf(error);
  if (failure === undefined) throw error;
  const message = retriedTexts.unconfirmed(failure.error.message);
  return { type: "unavailable", workload, message, retryAfterMs: retryAfterMs(error) };
}

/** If more Secrets are missing, they are not read: no workload has this many Helm releases. */
const maxUnlisted = 8;
/** Secrets that did not exist are not read again before this time, in milliseconds. */
const readAgainAfterMs = 60_000;

/**
 * Reads the missing Secrets of a waiting plan by name, because lists omit some (`withoutHelmReleases`). "allExist": all of them exist. "none": one
 * is missing, or nothing was read, because something else is missing too or they were read a moment ago. Otherwise: how the run ends, because a
 * read failed.
 */
export async function readUnlisted(
  findings: Writable<Findings>,
  workload: Workload,
  plan: RolloutPlan,
  options: LeaderParts<"clock" | "leadership", "lookup"> & { readonly live: Pick<LiveReads, "exist"> },
): Promise<"allExist" | "none" | ReadFailure> {
  const { caches, clock, live, leadership } = options;
  if (plan.outcome !== "waiting" || plan.missing.length > maxUnlisted) return "none";
  const mayAllExist = plan.missing.every(
    (object) =>
      object.kind === "Secret" &&
      isDnsSubdomain(object.name) &&
      object.namespace === workload.namespace &&
      caches.lookup(object.kind, object.namespace, object.name) === undefined,
  );
  const objects = [...new Map(plan.missing.map((object) => [configKey(object), object])).values()];
  const names = objects.map(({ name }) => name).join(" ");
  const { confirmedMissing } = findings;
  const now = clock.monotonic();
  if (!mayAllExist || (confirmedMissing?.names === names && now < confirmedMissing.untilMonotonic)) return "none";
  findings.confirmedMissing = { names, untilMonotonic: now + readAgainAfterMs };
  try {
    const exist = await live.exist(objects);
    if (exist) findings.confirmedMissing = undefined;
    return exist ? "allExist" : "none";
  } catch (error) {
    findings.confirmedMissing = undefined;
    return readFailure(error, workload, leadership);
  }
}
