import type { Lease } from "#kubernetes";
import { recordedConfigFor } from "../../../domain/config/hash.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { judgedAnnotation, judgedUpTo, type PublishedVerdict, parseVerdict } from "../../../domain/plan/verdict.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/reads.ts";
import { defaultLeaseDurationMs, holderOf } from "../../../manager/leader-election/lease.ts";
import { age } from "../../output/sentences.ts";
import { tryRead } from "../requests.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { isStateName } from "../states/state-rows.ts";

/** The Lease of a leader: when it renewed the Lease last, and its annotation `judged`. */
export type LeaderView = { readonly renewedAt: number; readonly judged: string | undefined } | NotPublished;

/** Why there is no verdict, as a clause for people. */
interface NotPublished {
  readonly why: string;
  /** Whether there may be a verdict some seconds later. */
  readonly mayCome: boolean;
}

/** The verdict of the leader on one workload. Times are in milliseconds since the epoch. */
export type Published =
  | {
      /** Undefined: the workload has the recorded hash of its configuration. */
      readonly verdict: PublishedVerdict | undefined;
      /** The verdict includes every change before this time, by the clock of the leader. */
      readonly upTo: number;
      /** The last renewal of the Lease, by the same clock. */
      readonly renewedAt: number;
    }
  | NotPublished;

/** An older verdict is not shown. A state is published after 30 s. */
const maxAgeMs = 90_000;

/** Reads what the leader of the running Wave publishes in its Lease. Never rejects. `now` is in milliseconds since the epoch. */
export async function readLeaderView(
  client: Pick<ApiClient, "request">,
  { namespace, name }: NonNullable<KnownPolicy["lease"]>,
  now: number,
): Promise<LeaderView> {
  const path = resourcePath(resources.leases, { namespace, name });
  const found = await tryRead(`get leases/${name} in ${namespace}`, () => getIfExists<Lease>(client, { path }));
  if ("unread" in found) return { why: leaderTexts.unread(found.unread), mayCome: found.needs.length === 0 };
  const { spec, metadata } = found.read ?? {};
  const renewedAt = Date.parse(spec?.renewTime ?? "") || 0;
  const { leaseDurationSeconds = defaultLeaseDurationMs / 1_000 } = spec ?? {};
  const isFresh = holderOf(found.read) !== "" && Math.abs(now - renewedAt) < leaseDurationSeconds * 1_000;
  if (!isFresh) return { why: leaderTexts.noLeader(`${name} in ${namespace}`, renewedAt, now), mayCome: false };
  return { renewedAt, judged: metadata?.annotations?.[judgedAnnotation] };
}

/** Returns the verdict of the leader on a workload, at `now` in milliseconds since the epoch. */
export function publishedOf(workload: Workload, view: LeaderView, policy: KnownPolicy, now: number): Published {
  if ("why" in view) return view;
  const { namespace, recordedHash, recordedConfig, state } = workload;
  const upTo = judgedUpTo(view.judged, namespace);
  const observes = rulesFor(workload, policy).mode.value === "observe";
  if (observes) return { why: leaderTexts.observed, mayCome: false };
  if (upTo === undefined || now - upTo > maxAgeMs)
    return { why: leaderTexts.notJudged(namespace, upTo, now), mayCome: true };
  const verdict = parseVerdict(state);
  if (state !== undefined && (verdict === undefined || !isStateName(verdict.state)))
    return { why: leaderTexts.otherState, mayCome: true };
  const isRecorded = recordedHash !== undefined || recordedConfigFor("", recordedConfig) !== undefined;
  if (verdict === undefined && !isRecorded) return { why: leaderTexts.noHash, mayCome: true };
  return { verdict, upTo, renewedAt: view.renewedAt };
}

/** Returns how old a verdict is: `by Wave, 12s ago`. */
export function byWave(judgedAt: string, now: number): string {
  return `by Wave, ${age(Math.max(0, now - Date.parse(judgedAt)))} ago`;
}

const leaderTexts = {
  unread: (why: string) => `The verdict of Wave is unknown: ${why}`,
  noLeader: (lease: string, renewedAt: number, now: number) =>
    renewedAt === 0
      ? `No Wave with leader election runs: there is no Lease ${lease}`
      : `No Wave runs: Lease ${lease} was last renewed ${age(Math.max(0, now - renewedAt))} ago`,
  observed: "Wave only observes the workload, and publishes no verdict",
  notJudged: (namespace: string, upTo: number | undefined, now: number) =>
    upTo === undefined
      ? `Wave has not judged namespace ${namespace}: it does not watch it, only observes, or has just started`
      : `Wave has not judged all changes in namespace ${namespace} for ${age(now - upTo)}`,
  otherState: "The annotation state of the workload has another form than this version of Wave writes",
  noHash: "Wave has not recorded the first hash",
} as const;
