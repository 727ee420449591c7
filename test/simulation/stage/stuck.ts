import { type StuckNamespace, stuckNamespaces } from "../judge-stuck.ts";
import { isOlderThan } from "../kept-seeds.ts";
import { recordedHash } from "../model-workload.ts";
import { type BatchSettings, type Pacing, type PlayedStuck, podFates, type StoredObject } from "../record.ts";
import { badValue } from "./crashing-pods.ts";
import { removeObstacle } from "./obstacles.ts";
import type { Random } from "./random.ts";
import { canReturn } from "./returned.ts";
import { type ConfigKind, played, ScriptedNamespace, type ScriptOptions } from "./scripted-namespace.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

/** What {@link playStuck} needs. */
interface StuckOptions extends ScriptOptions {
  readonly weather: Weather;
  readonly random: Random;
  readonly trace: Trace;
  readonly settings: BatchSettings;
  /** Ends the leader, and starts another process on its machine. */
  readonly changeLeader: (how: "crash" | "stop") => Promise<void>;
}

/** Longer than a new leader needs to take over, and to find that a rollout is stuck, in milliseconds. */
const noticedMs = 120_000;

/** Reports whether a scene with stuck rollouts can be played: there are batches, and a rollout fails only after it can be found as stuck. */
export function canBeStuck({ seed, settings }: { readonly seed: number; readonly settings: BatchSettings }): boolean {
  const { maxConcurrent = 0, rolloutTimeoutMs = 0 } = settings.pacing ?? {};
  return canReturn(settings) && maxConcurrent > 0 && rolloutTimeoutMs >= 60_000 && !isOlderThan(seed, "stuck rollouts");
}

/**
 * Plays a scene in two namespaces at once: an edit of a Secret in one, of a ConfigMap in the other. The new Pod of the canary does not start, or its
 * container ends. In some scenes a newer edit follows, the leader changes or answers are lost. Then the Pod can start.
 */
export function playStuck(options: StuckOptions, pacing: Pacing): Promise<readonly PlayedStuck[]> {
  return played(options.scheduler, Promise.all(stuckNamespaces.map((name) => playPart(name, options, pacing))));
}

async function playPart(name: StuckNamespace, options: StuckOptions, pacing: Pacing): Promise<PlayedStuck> {
  const { scheduler, cluster, settings, trace } = options;
  const random = options.random.stream(name);
  const isSecret = name === "stuck-secret";
  const kinds = random.pick<readonly ConfigKind[]>([["ConfigMap"], ["ConfigMap", "Secret"]]);
  const namespace = new ScriptedNamespace(options, name, isSecret ? ["Secret"] : kinds);
  const fate = random.pick(podFates);
  const mayBeSet = fate === "FailedCreate" || (fate !== "exits" && random.chance(0.3));
  // Only StatefulSets are played as far as their controller reports a quota. They do not replace a Pod whose container ended.
  const plural = mayBeSet ? "statefulsets" : "deployments";
  const isPinned = settings.pinConfig === true && !isSecret && fate !== "exits";
  const said: Record<string, string> = isPinned ? { "pin-config": "true", "on-failure": "return" } : {};
  await namespace.create({ k: "first" });
  for (const each of ["s0", "s1", "s2"]) await namespace.createWorkload(plural, each, said, { replicas: 1 });
  let isReady = await namespace.until(() => namespace.areComplete());
  if (isPinned) isReady = await rolledTo("good", hashChanges(namespace));
  const isRolled = hashChanges(namespace);
  trace.line("", () => `${name}: ${fate} of ${plural}`);
  if (fate !== "exits") cluster.obstacles.set(name, { fate, app: undefined });
  const editedAt = scheduler.now;
  await namespace.edit({ k: fate === "exits" ? badValue : "second" });
  await namespace.until(() => namespace.workloads().some(isRolled));
  const first = namespace.workloads().find(isRolled);
  const canary = first && { uid: first.metadata.uid, rolledAt: scheduler.now };
  const newerAt = await disturb();
  await scheduler.sleep(1.1 * pacing.rolloutTimeoutMs + noticedMs);
  const releasedAt = scheduler.now;
  removeObstacle(name, cluster);
  const last = newerAt === undefined ? "second" : "newer";
  const isDone = await rolledTo(fate === "exits" ? "fixed" : last, isRolled);
  const times = { editedAt: isReady ? editedAt : undefined, newerAt, releasedAt };
  return { namespace: name, fate, isSecret, canary, ...times, doneAt: isDone ? scheduler.now : undefined };

  /** Edits the configuration, if it is another. Resolves when every workload has rolled and is complete, and the leader knows it. */
  async function rolledTo(k: string, isRolled: (workload: StoredObject) => boolean): Promise<boolean> {
    await namespace.edit({ k });
    const isDone = await namespace.until(() => namespace.areComplete() && namespace.workloads().every(isRolled));
    await scheduler.sleep(3_000);
    return isDone;
  }

  /** Disturbs Wave, or edits the configuration again. Only one namespace disturbs all. Returns the time of the edit. */
  async function disturb(): Promise<number | undefined> {
    const turn = random.pick(["nothing", "newer edit", ...(isSecret ? [] : ["new leader", "answersLost"])]);
    trace.line("", () => `${name}: ${turn}`);
    if (turn === "new leader") await options.changeLeader(random.pick(["crash", "stop"]));
    if (turn === "answersLost") {
      options.weather.encore = turn;
      scheduler.after(pacing.rolloutTimeoutMs, () => {
        options.weather.encore = undefined;
      });
    }
    if (turn !== "newer edit" || fate === "exits") return undefined;
    await scheduler.sleep(random.between(1_000, 60_000));
    await namespace.edit({ k: "newer" });
    return scheduler.now;
  }
}

/** Returns whether a workload has another hash than now. */
function hashChanges(namespace: ScriptedNamespace): (workload: StoredObject) => boolean {
  const before = new Map(namespace.workloads().map((one) => [one.metadata.uid, recordedHash(one)]));
  return (one) => recordedHash(one) !== before.get(one.metadata.uid);
}
