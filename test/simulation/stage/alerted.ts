import { alertsNamespace } from "../judge-alerts.ts";
import { recordedHash } from "../model-workload.ts";
import { alertTurns, type Pacing, type PlayedAlert, type StoredObject } from "../record.ts";
import type { AlertSource } from "./alert-source.ts";
import type { Random } from "./random.ts";
import { played, ScriptedNamespace, type ScriptOptions } from "./scripted-namespace.ts";
import type { Trace } from "./trace.ts";

/** What {@link Alerted} needs. */
interface AlertedOptions extends ScriptOptions {
  readonly random: Random;
  readonly trace: Trace;
  readonly alerts: AlertSource;
  /** Ends the leader, and starts another process on its machine. */
  readonly changeLeader: (how: "crash" | "stop") => Promise<void>;
}

/** Longer than the time between two queries, than Wave takes from an alert to its effect, and than it waits for Prometheus, in milliseconds. */
const [askedMs, noticedMs, awayMs] = [20_000, 40_000, 180_000];

/** Plays a scene in which an alert fires before a rollout, or during the soak time of its canary, or Prometheus is away. */
export class Alerted {
  readonly #options: AlertedOptions;
  readonly #random: Random;
  readonly #pacing: Pacing;
  readonly #namespace: ScriptedNamespace;

  constructor(options: AlertedOptions, pacing: Pacing) {
    this.#options = options;
    this.#random = options.random.stream("alerted");
    this.#pacing = pacing;
    this.#namespace = new ScriptedNamespace(options, alertsNamespace);
  }

  /** Plays all rounds. */
  play(): Promise<readonly PlayedAlert[]> {
    return played(this.#options.scheduler, this.#rounds());
  }

  async #rounds(): Promise<readonly PlayedAlert[]> {
    const namespace = this.#namespace;
    await namespace.create({ k: "first" });
    for (const name of ["a0", "a1", "a2"]) await namespace.createWorkload("deployments", name, {}, { replicas: 1 });
    let isReady = await namespace.until(() => namespace.areComplete());
    const rounds: PlayedAlert[] = [];
    // A wrong clock may show the time of a person as future, or the alert before the rollout.
    const isWrong = namespace.hasWrongClock();
    for (const turn of alertTurns.filter((each) => !isWrong || each !== "fires during")) {
      if (rounds.length > 0) await namespace.rest();
      const round = await this.#round(turn);
      rounds.push(isReady ? round : { ...round, editedAt: undefined });
      // The status may not show the last annotation of Wave yet.
      isReady &&= await namespace.until(() => namespace.areComplete());
    }
    return rounds;
  }

  async #round(turn: PlayedAlert["turn"]): Promise<PlayedAlert> {
    const { scheduler, alerts, trace, changeLeader } = this.#options;
    const namespace = this.#namespace;
    const random = this.#random;
    const before = new Map(namespace.workloads().map((one) => [one.metadata.uid, recordedHash(one)]));
    const isRolled = (one: StoredObject) => recordedHash(one) !== before.get(one.metadata.uid);
    trace.line("", () => `alerts: ${turn}`);
    if (turn === "fires before") {
      alerts.firing.add(alertsNamespace);
      await scheduler.sleep(askedMs);
    }
    alerts.isAway = turn === "Prometheus is away";
    const editedAt = scheduler.now;
    await namespace.edit({ k: `${turn} ${editedAt}` });
    let canary: PlayedAlert["canary"];
    if (turn === "fires during") {
      await namespace.until(() => namespace.workloads().some(isRolled));
      await scheduler.sleep(1_000);
      const first = namespace.workloads().find(isRolled);
      alerts.firing.add(alertsNamespace);
      canary = first && { uid: first.metadata.uid, firesAt: scheduler.now };
    }
    await scheduler.sleep(turn === "Prometheus is away" ? awayMs : noticedMs);
    alerts.firing.clear();
    alerts.isAway = false;
    const endedAt = scheduler.now;
    if (random.chance(0.5)) await changeLeader(random.pick(["crash", "stop"]));
    if (turn === "fires during") await scheduler.sleep(this.#pacing.soakMs + 60_000);
    const releasedAt = scheduler.now;
    for (const one of namespace.workloads()) if (one.metadata.uid === canary?.uid) await namespace.resume(one);
    const isDone = await namespace.until(() => namespace.areComplete() && namespace.workloads().every(isRolled));
    // A leader that was changed starts again before the run ends.
    await scheduler.sleep(noticedMs);
    return { turn, editedAt: isDone ? editedAt : undefined, canary, endedAt, releasedAt, endAt: scheduler.now };
  }
}
