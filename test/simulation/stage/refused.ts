import { isComplete } from "../model-progress.ts";
import { readHash } from "../model-workload.ts";
import type { BatchSettings, Pacing } from "../record.ts";
import { badValue } from "./crashing-pods.ts";
import type { Random } from "./random.ts";
import { canReturn } from "./returned.ts";
import { played, ScriptedNamespace, type ScriptOptions } from "./scripted-namespace.ts";
import type { Trace } from "./trace.ts";

/** What {@link playRefused} needs. */
interface RefusedOptions extends ScriptOptions {
  readonly random: Random;
  readonly trace: Trace;
  readonly violated: (what: string) => void;
  /** Ends the leader, and starts another process on its machine. */
  readonly changeLeader: (how: "crash" | "stop") => Promise<void>;
}

/** Longer than a new leader needs to take over, in milliseconds. */
const noticedMs = 120_000;

/** Reports whether a scene with refused content can be played: there are batches, and nothing else holds them. */
export function canBeRefused({ pacing, ...rest }: BatchSettings): boolean {
  return canReturn({ pacing, ...rest }) && (pacing?.maxConcurrent ?? 0) > 0;
}

/**
 * Plays a scene: a validator refuses an edit of the only key that it reads. Then the other key changes, which only the others read, sometimes under a
 * new leader. At the end, a good edit must reach all of them. The judge of batches finds those that are rolled before it.
 */
export function playRefused(options: RefusedOptions, pacing: Pacing): Promise<void> {
  return played(options.scheduler, play(options, pacing));
}

async function play(options: RefusedOptions, pacing: Pacing): Promise<void> {
  const { scheduler, trace, violated } = options;
  const random = options.random.stream("refused");
  const namespace = new ScriptedNamespace(options, "refused");
  await namespace.create({ k: "first", other: "0" });
  await namespace.createWorkload("deployments", "check", { validator: "true" }, { replicas: 1 }, "k");
  for (const each of ["r0", "r1", "r2"]) await namespace.createWorkload("deployments", each, {}, { replicas: 1 });
  const all = () => [...namespace.workloads(), ...namespace.validators()];
  const areRight = () => all().every((one) => readHash(one) !== undefined && isComplete(one));
  /** Edits the key that all read. Resolves when all are rolled to it and complete, and the leader knows it. */
  const rolledTo = async (k: string) => {
    const before = new Map(all().map((one) => [one.metadata.uid, readHash(one)]));
    await namespace.edit({ k });
    const isDone = await namespace.until(
      () => areRight() && all().every((one) => readHash(one) !== before.get(one.metadata.uid)),
    );
    if (!isDone) violated(`refused: not all workloads are rolled to "${k}"`);
    await scheduler.sleep(pacing.soakMs + 3_000);
    return isDone;
  };
  if (!(await namespace.until(areRight)) || !(await rolledTo("good"))) return;
  const [check] = namespace.validators();
  await namespace.edit({ k: badValue });
  const isRolled = () => namespace.validators().some((one) => readHash(one) !== (check && readHash(check)));
  if (!(await namespace.until(isRolled))) violated("refused: the validator is not rolled to the bad edit");
  const [waitMs, turn] = [random.pick([0, 2_000, 40_000]), random.pick(["nothing", "crash", "stop"] as const)];
  trace.line("", () => `refused: ${turn} after ${waitMs} ms`);
  await scheduler.sleep(waitMs);
  for (const edit of ["1", "2"]) {
    await namespace.edit({ other: edit });
    await scheduler.sleep(noticedMs);
    if (edit === "1" && turn !== "nothing") {
      await options.changeLeader(turn);
      await scheduler.sleep(noticedMs);
    }
  }
  await rolledTo("fixed");
}
