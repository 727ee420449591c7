import type { Hold } from "../rollout/pacing/hold.ts";
import type { Moment } from "../rollout/pacing/moment.ts";
import { type Stage, stageOf } from "../rollout/pacing/stage.ts";
import { type WaveMember, waveOf } from "../rollout/pacing/waves.ts";
import { rolloutPolicyOf } from "../rollout/policy/rollout-policy.ts";
import { type ConfigName, configKey } from "../rollout/references.ts";
import { type Workload, workloadKey } from "../rollout/workload.ts";
import { planLive } from "./live-plan.ts";
import type { ReadConfigs } from "./read-configs.ts";
import type { FoundWorkload } from "./read-workloads.ts";
import { type KnownPolicy, policyOf } from "./told-flags.ts";

/** What is known of the workloads of a namespace. */
export interface WaveFacts {
  /** All of the namespace that opted in. */
  readonly found: readonly FoundWorkload[];
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly now: number;
}

/** A workload that a change concerns, and how far it is with it. */
export interface Concerned {
  readonly found: FoundWorkload;
  readonly stage: Stage;
}

/** The waves of some namespaces as they are now, derived from the API alone as Wave itself derives them after a restart. */
export interface Waves {
  /** For the moments of plans. */
  readonly holdOf: NonNullable<Moment["wave"]>;
  /** The workloads of a namespace that the last change of an object concerns. */
  readonly concerned: (object: ConfigName, namespace: string) => readonly Concerned[];
}

/** Works out who may go first and who follows, from all workloads of each namespace. */
export function wavesNow({ found, read, policy, now }: WaveFacts): Waves {
  const dueFor = new Map<string, ReadonlySet<string>>();
  for (const each of found) {
    planLive(each, read, policy, now, (workload, changed) => {
      dueFor.set(workloadKey(workload), new Set(changed.map(configKey)));
      return undefined;
    });
  }
  const readers = Map.groupBy(
    found.flatMap((each) => {
      const objects = new Set(each.workload.references.map(configKey));
      return [...objects].map((object) => ({ group: `${each.workload.namespace} ${object}`, each }));
    }),
    ({ group }) => group,
  );
  const concerned = (object: ConfigName, namespace: string): readonly Concerned[] =>
    (readers.get(`${namespace} ${configKey(object)}`) ?? []).flatMap(({ each }) => {
      const { workload } = each;
      const policyOfIt = rolloutPolicyOf(workload, policyOf(policy));
      if (!policyOfIt.waves.value) return [];
      const stage = stageOf(
        {
          workload,
          due: dueFor.get(workloadKey(workload))?.has(configKey(object)) ?? false,
          changedAt: changedAt(object, read) ?? now,
          writtenAt: undefined,
          // No status tells: it is taken to have been complete at once, which is right soon.
          completeSince: workload.rolledAt * 1000,
          resumed: policyOfIt.resumedAt,
        },
        policy.pacing,
        now,
      );
      return stage === undefined ? [] : [{ found: each, stage }];
    });
  const waves = new Map<string, ReturnType<typeof waveOf>>();
  const waveFor = (object: ConfigName, namespace: string) => {
    const key = `${namespace} ${configKey(object)}`;
    const known = waves.get(key);
    if (known !== undefined) return known;
    const members = concerned(object, namespace).map(({ found: { workload }, stage }): WaveMember => {
      const { priority } = rolloutPolicyOf(workload, policyOf(policy));
      return { key: workloadKey(workload), priority: priority.value, stage };
    });
    const wave = waveOf({ object, namespace, members }, policy.pacing);
    waves.set(key, wave);
    return wave;
  };
  return {
    concerned,
    holdOf: (workload, changed) => firstHold(workload, changed, waveFor),
  };
}

function firstHold(
  workload: Workload,
  changed: readonly ConfigName[],
  waveFor: (object: ConfigName, namespace: string) => ReturnType<typeof waveOf>,
): Hold | undefined {
  const key = workloadKey(workload);
  for (const object of changed) {
    const wave = waveFor(object, workload.namespace);
    if (!wave.go.has(key)) return wave.hold;
  }
  return undefined;
}

function changedAt(object: ConfigName, read: ReadConfigs): number | undefined {
  const found = read.get(configKey(object));
  return found?.state === "present" && found.config.changedAt !== undefined ? found.config.changedAt * 1000 : undefined;
}
