import { copyOfPage, page, returnsNamespace } from "../judge-returns.ts";
import { isOlderThan } from "../kept-seeds.ts";
import { standsFor } from "../model-search.ts";
import { namedBy } from "../model-workload.ts";
import { type BatchSettings, type Pacing, type PlayedReturn, type StoredObject, type Turn, turns } from "../record.ts";
import { badValue } from "./crashing-pods.ts";
import type { Random } from "./random.ts";
import { pageName, played, ScriptedNamespace, type ScriptOptions } from "./scripted-namespace.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

/** What {@link Returned} needs. */
interface ReturnedOptions extends ScriptOptions {
  readonly weather: Weather;
  readonly random: Random;
  readonly trace: Trace;
  readonly settings: BatchSettings;
  /** Ends the leader, and starts another process on its machine. */
  readonly changeLeader: (how: "crash" | "stop") => Promise<void>;
}

/** Whether a scene with returns is played: in most runs with pacing, but in no older run that is kept. */
export function chooseReturns(random: Random, seed: number): boolean {
  return random.chance(0.9) && !isOlderThan(seed, "returns and alerts");
}

/** Reports whether Wave rolls workloads of every namespace, at any time. */
export function canReturn({ pacing, namespaces }: BatchSettings): boolean {
  return pacing !== undefined && !pacing.observe && pacing.window === undefined && namespaces === undefined;
}

/** The rest of a round that could not begin. */
const ended = {
  badAt: undefined,
  turn: "nothing",
  decided: undefined,
  releasedAt: undefined,
  isValidated: false,
  fixedAt: 0,
  fixed: "",
} as const;

/**
 * Plays a scene without other faults: pinned workloads that return after a failed rollout read a ConfigMap, a good edit reaches all of them, and
 * the next edit crashes their Pods. In some scenes a person or a newer edit decides otherwise, or Wave is disturbed, before the rollout fails.
 */
export class Returned {
  readonly #options: ReturnedOptions;
  readonly #random: Random;
  readonly #pacing: Pacing;
  readonly #namespace: ScriptedNamespace;

  constructor(options: ReturnedOptions, pacing: Pacing) {
    this.#options = options;
    this.#random = options.random.stream("returned");
    this.#pacing = pacing;
    this.#namespace = new ScriptedNamespace(options, returnsNamespace);
  }

  /** Plays all rounds. */
  play(): Promise<readonly PlayedReturn[]> {
    return played(this.#options.scheduler, this.#rounds());
  }

  async #rounds(): Promise<readonly PlayedReturn[]> {
    const random = this.#random;
    const namespace = this.#namespace;
    const validator = random.pick(["none", "none", "none", "checks", "paused"] as const);
    const isValidated = validator === "checks" && this.#pacing.maxConcurrent > 0;
    const needsApproval = random.chance(0.25);
    let isReady = await this.#begin(validator);
    if (needsApproval) for (const one of namespace.workloads()) await namespace.annotate(one, { mode: "approve" });
    const rounds: PlayedReturn[] = [];
    for (let round = 0; round < 2 && isReady; round++) {
      await namespace.rest();
      rounds.push(await this.#round(`fixed ${round}`, isValidated, needsApproval));
      // The status may not show the last annotation of Wave yet.
      isReady = await namespace.until(() => namespace.areComplete());
    }
    return isReady ? rounds : [...rounds, { ...ended, endAt: this.#options.scheduler.now }];
  }

  async #round(fixed: string, isValidated: boolean, needsApproval: boolean): Promise<PlayedReturn> {
    const { scheduler, trace } = this.#options;
    const namespace = this.#namespace;
    const badAt = scheduler.now;
    await this.#edit(badValue, needsApproval);
    const failing = () => namespace.workloads().find((one) => this.#reads(one, badValue));
    const isFailing = !isValidated && (await namespace.until(() => failing() !== undefined));
    const target = isFailing ? failing() : undefined;
    const turn = this.#someTurn(target);
    let [decided, releasedAt]: [PlayedReturn["decided"], number | undefined] = [undefined, undefined];
    if (target !== undefined) {
      // A time of a person has whole seconds, and is later than the rollout.
      await scheduler.sleep(1_000);
      trace.line("", () => `returns: ${turn} for ${target.metadata.name}`);
      await this.#take(turn, target, needsApproval);
      if (isDeciding(turn)) decided = { at: scheduler.now, uid: target.metadata.uid };
    }
    const failedMs = 1.1 * this.#pacing.rolloutTimeoutMs + 60_000;
    await scheduler.sleep(failedMs);
    if (turn === "hold" && target !== undefined) {
      releasedAt = scheduler.now;
      await namespace.annotate(target, { hold: null });
    }
    const stays = (one: StoredObject) => turn !== "hold" && one.metadata.uid === decided?.uid;
    await namespace.until(() => namespace.workloads().every((one) => stays(one) || !this.#reads(one, badValue)));
    await scheduler.sleep(this.#random.pick([10_000, 120_000, failedMs]));
    const fixedAt = scheduler.now;
    await this.#edit(fixed, needsApproval);
    await namespace.until(() => this.#isAt(fixed));
    if (turn === "halt" && target !== undefined) await namespace.annotate(target, { "on-failure": "return" });
    // The leader sees that the rollout is complete.
    await scheduler.sleep(3_000);
    return { badAt, turn, decided, releasedAt, isValidated, fixedAt, fixed, endAt: scheduler.now };
  }

  /**
   * A clock that is wrong may show a rollout as failed before anyone decides. An ordered StatefulSet that is not to return keeps its failed Pod, so
   * that no later edit reaches its Pods.
   */
  #someTurn(target: StoredObject | undefined): Turn {
    const people = turns.decided.filter((each) => each !== "halt" || target?.kind === "Deployment");
    // As frequent as all decisions of people: it shows a mistake only with a short timeout and a time to settle.
    const decided = [...people, ...Array<Turn>(3).fill("good edit")];
    const isCertain = target !== undefined && !this.#namespace.hasWrongClock();
    return this.#random.pick<Turn>(isCertain && this.#random.chance(0.6) ? decided : turns.undecided);
  }

  /** Creates everything. Returns whether all readers were rolled to a good edit with pins, and are complete. */
  async #begin(validator: "none" | "checks" | "paused"): Promise<boolean> {
    const random = this.#random;
    const namespace = this.#namespace;
    await namespace.create({ [page.key]: "first" });
    const pinned = { "pin-config": "true" };
    const [deployments, statefulSets] = ["deployments", "statefulsets"] as const;
    const kinds = [deployments, ...random.pick([[], [deployments], [statefulSets], [deployments, statefulSets]])];
    for (const [index, plural] of kinds.entries()) {
      const said = { ...pinned, "on-failure": "return" };
      await namespace.createWorkload(plural, `p${index}`, said, { replicas: random.whole(1, 2) });
    }
    const spec = { replicas: 1, paused: validator === "paused" };
    if (validator !== "none")
      await namespace.createWorkload(deployments, "check", { ...pinned, validator: "true" }, spec);
    let isReady = await namespace.until(() => namespace.areComplete());
    for (const text of ["good", "better"]) {
      await this.#edit(text, false);
      isReady &&= await namespace.until(() => this.#isAt(text));
      // The leader sees that the rollout is complete.
      await this.#options.scheduler.sleep(3_000);
    }
    return isReady;
  }

  async #take(turn: Turn, target: StoredObject, needsApproval: boolean): Promise<void> {
    const { scheduler, cluster, weather, replicas, changeLeader } = this.#options;
    const namespace = this.#namespace;
    const breakAll = () => {
      for (const { network } of replicas()) network.break("the API server closed the connection");
    };
    switch (turn) {
      case "nothing":
        return;
      case "new leader":
        return changeLeader(this.#random.pick(["crash", "stop"]));
      case "reset":
        return breakAll();
      case "gap":
        cluster.down = true;
        breakAll();
        await scheduler.sleep(2_500);
        cluster.down = false;
        cluster.server.registry.storage.expireHistory();
        return;
      case "answersLost":
        weather.encore = turn;
        scheduler.after(this.#pacing.rolloutTimeoutMs + 10_000, () => {
          weather.encore = undefined;
        });
        return;
      case "resume":
        return namespace.resume(target);
      case "hold":
        return namespace.annotate(target, { hold: "true" });
      case "halt":
        return namespace.annotate(target, { "on-failure": "halt" });
      case "template": {
        const edited = `${scheduler.now}`;
        return namespace.patch(
          target,
          { spec: { template: { metadata: { annotations: { edited } } } } },
          "kubectl-edit",
        );
      }
      case "good edit":
        return this.#edit("newer", needsApproval);
      case "bad edit":
        return this.#edit(badValue, needsApproval, { more: `${scheduler.now}` });
    }
  }

  #isAt(text: string): boolean {
    const namespace = this.#namespace;
    return namespace.areComplete() && namespace.workloads().every((one) => this.#reads(one, text));
  }

  #reads(workload: StoredObject, text: string): boolean {
    return this.#namespace.find(copyOfPage(workload))?.data?.[page.key] === text;
  }

  /** Edits the ConfigMap. A person then approves the edit for every workload. */
  async #edit(text: string, needsApproval: boolean, more: Readonly<Record<string, string>> = {}): Promise<void> {
    const namespace = this.#namespace;
    await namespace.edit({ [page.key]: text, ...more });
    if (!needsApproval) return;
    const live = namespace.find(pageName);
    for (const one of namespace.workloads()) {
      const { hash = "" } = standsFor(namedBy(one, this.#options.settings), () => live);
      await namespace.annotate(one, { approved: hash.slice(hash.indexOf(":") + 1).slice(0, 12) });
    }
  }
}

function isDeciding(turn: Turn): boolean {
  return (turns.decided as readonly Turn[]).includes(turn);
}
