import { resources } from "../../../sandbox/objects/resources.ts";
import { copyOfPage, returnsNamespace as namespace, page } from "../judge-returns.ts";
import { isOlderThan } from "../kept-seeds.ts";
import { isComplete } from "../model-progress.ts";
import { standsFor } from "../model-search.ts";
import { isValidator, namedBy, recordedHash } from "../model-workload.ts";
import { type BatchSettings, type Pacing, type PlayedReturn, type StoredObject, type Turn, turns } from "../record.ts";
import type { Cluster } from "./cluster.ts";
import { badValue } from "./crashing-pods.ts";
import type { Random } from "./random.ts";
import type { Replica } from "./replica.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

/** What {@link Returned} needs. */
interface ReturnedOptions {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  readonly weather: Weather;
  readonly random: Random;
  readonly trace: Trace;
  readonly settings: BatchSettings;
  readonly replicas: () => readonly Replica[];
  /** Ends the leader, and starts another process on its machine. */
  readonly changeLeader: (how: "crash" | "stop") => Promise<void>;
}

/** Whether a scene with returns is played: in most runs with pacing, but in no older run that is kept. */
export function chooseReturns(random: Random, seed: number): boolean {
  return random.chance(0.9) && !isOlderThan(seed, "returns");
}

/** Reports whether Wave rolls workloads of every namespace, at any time. */
export function canReturn({ pacing, namespaces }: BatchSettings): boolean {
  return pacing !== undefined && !pacing.observe && pacing.window === undefined && namespaces === undefined;
}

/** The longest wait for a state, in milliseconds. */
const longestMs = 1_800_000;
/** The time without a rollout that ends a series of consecutive rollouts, in milliseconds. */
const quietMs = 660_000;
const annotation = "wave.pusher.com/";
const optIn = { [`${annotation}update-on-config-change`]: "true", [`${annotation}pin-config`]: "true" };
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
const [deployments, statefulSets] = ["deployments", "statefulsets"] as const;

/**
 * Plays a scene without other faults: pinned workloads that return after a failed rollout read a ConfigMap, a good edit reaches all of them, and
 * the next edit crashes their Pods. In some scenes a person or a newer edit decides otherwise, or Wave is disturbed, before the rollout fails.
 */
export class Returned {
  readonly #options: ReturnedOptions;
  readonly #random: Random;

  constructor(options: ReturnedOptions) {
    this.#options = options;
    this.#random = options.random.stream("returned");
  }

  get #pacing(): Pacing {
    const { pacing } = this.#options.settings;
    if (pacing === undefined) throw new Error("a scene with returns needs pacing");
    return pacing;
  }

  /** Plays all rounds. */
  async play(): Promise<readonly PlayedReturn[]> {
    const { scheduler } = this.#options;
    let isOver = false;
    const played = this.#rounds().finally(() => {
      isOver = true;
    });
    while (!isOver) await scheduler.runUntil(scheduler.now + 1_000);
    return await played;
  }

  async #rounds(): Promise<readonly PlayedReturn[]> {
    const random = this.#random;
    const validator = random.pick(["none", "none", "none", "checks", "paused"] as const);
    const isValidated = validator === "checks" && this.#pacing.maxConcurrent > 0;
    const needsApproval = random.chance(0.25);
    let isReady = await this.#begin(validator);
    if (needsApproval) for (const one of this.#readers()) await this.#annotate(one, { mode: "approve" });
    const rounds: PlayedReturn[] = [];
    for (let round = 0; round < 2 && isReady; round++) {
      // Wave waits longer and longer between consecutive rollouts.
      await this.#options.scheduler.sleep(this.#hasWrongClock() ? 2 * quietMs : quietMs);
      rounds.push(await this.#round(`fixed ${round}`, isValidated, needsApproval));
      isReady = this.#areComplete();
    }
    return isReady ? rounds : [...rounds, { ...ended, endAt: this.#options.scheduler.now }];
  }

  async #round(fixed: string, isValidated: boolean, needsApproval: boolean): Promise<PlayedReturn> {
    const { scheduler, trace } = this.#options;
    const turn = this.#someTurn();
    const badAt = scheduler.now;
    await this.#edit(badValue, needsApproval);
    const failing = () => this.#readers().find((one) => this.#reads(one, badValue));
    const isFailing = !isValidated && (await this.#until(() => failing() !== undefined));
    const target = isFailing ? failing() : undefined;
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
      await this.#annotate(target, { hold: null });
      releasedAt = scheduler.now;
    }
    const stays = (one: StoredObject) => turn !== "hold" && one.metadata.uid === decided?.uid;
    await this.#until(() => this.#readers().every((one) => stays(one) || !this.#reads(one, badValue)));
    await scheduler.sleep(this.#random.pick([10_000, 120_000, failedMs]));
    const fixedAt = scheduler.now;
    await this.#edit(fixed, needsApproval);
    const isFixed = () => this.#areComplete() && this.#readers().every((one) => this.#reads(one, fixed));
    await this.#until(isFixed);
    if (turn === "halt" && target !== undefined) await this.#annotate(target, { "on-failure": "return" });
    // The leader sees that the rollout is complete.
    await scheduler.sleep(3_000);
    return { badAt, turn, decided, releasedAt, isValidated, fixedAt, fixed, endAt: scheduler.now };
  }

  /** A clock that is wrong may show a rollout as failed before anyone decides. */
  #someTurn(): Turn {
    const isWrong = this.#hasWrongClock();
    return this.#random.pick(isWrong || this.#random.chance(0.4) ? turns.undecided : turns.decided);
  }

  #hasWrongClock(): boolean {
    const { replicas, cluster, scheduler } = this.#options;
    const offMs = replicas().map(({ process }) => process.clock.wall() - cluster.epoch - scheduler.now);
    return offMs.some((ms) => Math.abs(ms) > 500);
  }

  /** Creates everything. Returns whether all readers were rolled to a good edit with pins, and are complete. */
  async #begin(validator: "none" | "checks" | "paused"): Promise<boolean> {
    const random = this.#random;
    await this.#send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const metadata = { name: page.name, namespace };
    await this.#send("POST", `/api/v1/namespaces/${namespace}/configmaps`, { metadata, data: { [page.key]: "first" } });
    const returns = { ...optIn, [`${annotation}on-failure`]: "return" };
    const kinds = [deployments, ...random.pick([[], [deployments], [statefulSets], [deployments, statefulSets]])];
    for (const [index, plural] of kinds.entries())
      await this.#create(plural, `p${index}`, returns, { replicas: random.whole(1, 2) });
    const checks = { ...optIn, [`${annotation}validator`]: "true" };
    if (validator !== "none")
      await this.#create(deployments, "check", checks, { replicas: 1, paused: validator === "paused" });
    let isReady = await this.#until(() => this.#areComplete());
    for (const text of ["good", "better"]) {
      await this.#edit(text, false);
      const read = () => this.#areComplete() && this.#readers().every((one) => this.#reads(one, text));
      isReady &&= await this.#until(read);
      // The leader sees that the rollout is complete.
      await this.#options.scheduler.sleep(3_000);
    }
    return isReady;
  }

  async #take(turn: Turn, target: StoredObject, needsApproval: boolean): Promise<void> {
    const { scheduler, cluster, weather, replicas, changeLeader } = this.#options;
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
      case "resume": {
        const time = new Date(cluster.epoch + scheduler.now).toISOString().replace(/\.\d+/, "");
        return this.#annotate(target, { resumed: time });
      }
      case "hold":
        return this.#annotate(target, { hold: "true" });
      case "halt":
        return this.#annotate(target, { "on-failure": "halt" });
      case "template": {
        const edited = `${scheduler.now}`;
        return this.#patch(target, { spec: { template: { metadata: { annotations: { edited } } } } }, "kubectl-edit");
      }
      case "good edit":
        return this.#edit("newer", needsApproval);
      case "bad edit":
        return this.#edit(badValue, needsApproval, { more: `${scheduler.now}` });
    }
  }

  #readers(): readonly StoredObject[] {
    const { storage } = this.#options.cluster.server.registry;
    const stored = [resources.deployments, resources.statefulSets].flatMap((each) => storage.list(each, namespace));
    return (stored as unknown as readonly StoredObject[]).filter((one) => !isValidator(one));
  }

  #areComplete(): boolean {
    return this.#readers().every((one) => recordedHash(one) !== undefined && isComplete(one));
  }

  #reads(workload: StoredObject, text: string): boolean {
    return this.#find(copyOfPage(workload))?.data?.[page.key] === text;
  }

  #find(configMap = ""): (StoredObject & { readonly data?: Readonly<Record<string, string>> }) | undefined {
    const { storage } = this.#options.cluster.server.registry;
    return storage.get(resources.configMaps, namespace, configMap) as unknown as StoredObject | undefined;
  }

  /** Resolves when this is true, at the latest after a limit; returns whether it is. */
  async #until(isTrue: () => boolean): Promise<boolean> {
    const { scheduler } = this.#options;
    const end = scheduler.now + longestMs;
    while (!isTrue()) {
      if (scheduler.now > end) return false;
      await scheduler.sleep(500);
    }
    return true;
  }

  /** Edits the ConfigMap. A person then approves the edit for every workload. */
  async #edit(text: string, needsApproval: boolean, more: Readonly<Record<string, string>> = {}): Promise<void> {
    const { settings } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/configmaps/${page.name}`;
    await this.#send("PATCH", path, { data: { [page.key]: text, ...more } });
    if (!needsApproval) return;
    const live = this.#find(page.name);
    for (const one of this.#readers()) {
      const { hash = "" } = standsFor(namedBy(one, settings), () => live);
      await this.#annotate(one, { approved: hash.slice(hash.indexOf(":") + 1).slice(0, 12) });
    }
  }

  #create(
    plural: string,
    name: string,
    annotations: Readonly<Record<string, string>>,
    spec: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const labels = { app: name };
    const container = { name: "app", image: "app:1", envFrom: [{ configMapRef: { name: page.name } }] };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const body = {
      metadata: { name, namespace, annotations },
      spec: {
        ...spec,
        selector: { matchLabels: labels },
        template,
        ...(plural === statefulSets && { serviceName: "" }),
      },
    };
    return this.#send("POST", `/apis/apps/v1/namespaces/${namespace}/${plural}`, body);
  }

  #annotate(workload: StoredObject, said: Readonly<Record<string, string | null>>): Promise<void> {
    const annotations = Object.fromEntries(Object.entries(said).map(([name, value]) => [annotation + name, value]));
    return this.#patch(workload, { metadata: { annotations } }, "kubectl-annotate");
  }

  #patch({ kind, metadata: { name } }: StoredObject, body: object, manager: string): Promise<void> {
    return this.#send("PATCH", `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`, body, manager);
  }

  async #send(method: "POST" | "PATCH", path: string, body: object, manager = "kubectl-create"): Promise<void> {
    const { status } = await this.#options.cluster.api.request(method, path, { body, manager });
    if (status >= 300) throw new Error(`${method} ${path} ${status}`);
  }
}

function isDeciding(turn: Turn): boolean {
  return (turns.decided as readonly Turn[]).includes(turn);
}
