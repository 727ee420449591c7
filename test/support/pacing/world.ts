import type { Config } from "../../../src/domain/config/digest.ts";
import { type Lookup, viewThrough } from "../../../src/domain/config/view.ts";
import type { Progress } from "../../../src/domain/model/progress.ts";
import { type Workload, workloadKey } from "../../../src/domain/model/workload.ts";
import { configHash, extraConfigMaps } from "../../../src/domain/references/annotations.ts";
import { type ConfigName, configKey } from "../../../src/domain/references/references.ts";
import { configMap, workload as workloadOf } from "../domain/objects.ts";

/** What a workload of a {@link World} is like. */
export interface Shape {
  readonly namespace: string;
  readonly kind: "Deployment" | "StatefulSet";
  /** The numbers of the ConfigMaps that it reads. */
  readonly reads: readonly number[];
  /** How many Pods it has, and how long each takes to be replaced, one after the other. */
  readonly pods: number;
  readonly podMs: number;
  readonly policy: Readonly<Record<string, string>>;
}

/** A replacement of all Pods of a workload: those that read what is bad never become available. */
export interface Rollout {
  readonly byWave: boolean;
  /** Whether the same was written before, and somebody took it away. */
  readonly again: boolean;
  /** What it was rolled for. */
  readonly changed: readonly ConfigName[];
  /** What its Pods see, by the numbers of the ConfigMaps. */
  readonly values: readonly (string | undefined)[];
  readonly at: number;
  readonly bad: boolean;
  /** The one before it. */
  readonly before: Rollout | undefined;
}

/** A workload as it is stored, and what becomes of its Pods. */
export interface Actor {
  readonly shape: Shape;
  readonly key: string;
  stored: Workload;
  rollout: Rollout | undefined;
  /** The hash that Wave wrote last. */
  written: string | undefined;
  /** Every roll by Wave. */
  readonly rolls: number[];
}

/** How long a Deployment makes no progress before it says so, milliseconds: the API's default. */
const deadlineMs = 600_000;

/** A cluster of few objects, for tests: what is stored, and Pods that are replaced as time goes on. All of it begins up to date. */
export class World {
  now: number;
  readonly actors: readonly Actor[];
  readonly #configs = new Map<string, Config>();
  readonly #values = new Map<string, string>();

  constructor(shapes: readonly Shape[], configs: number, now: number) {
    this.now = now - 3_600_000;
    for (let index = 0; index < configs; index++) this.edit(index, "good");
    this.actors = shapes.map((shape, index) => this.#actor(shape, index));
    this.now = now;
  }

  readonly lookup: Lookup = (kind, namespace, name) => this.#configs.get(configKey({ kind, namespace, name }));

  /** Changes a ConfigMap, which it returns if it had another value. One that begins with "bad" breaks every Pod that starts with it. */
  edit(index: number, value: string): ConfigName | undefined {
    const name = `c${index}`;
    if (this.#values.get(name) === value) return undefined;
    const metadata = { namespace: "shared", annotations: { "wave.pusher.com/shared-with": "*" } };
    const config = { ...configMap(name, { key: value }, metadata), changedAt: Math.floor(this.now / 1000) };
    this.#values.set(name, value);
    this.#configs.set(configKey(config), config);
    return config;
  }

  get configs(): readonly Config[] {
    return [...this.#configs.values()];
  }

  /** Whether Pods that read a ConfigMap would be broken if they were made now. */
  isBad(index: number): boolean {
    return this.#values.get(`c${index}`)?.startsWith("bad") ?? false;
  }

  /** The ConfigMaps whose values its Pods do not see, where it was rolled before. */
  changedFor({ rollout, shape: { reads } }: Actor): readonly ConfigName[] {
    const others = reads.filter((index, place) => {
      return rollout?.byWave && rollout.values[place] !== this.#values.get(`c${index}`);
    });
    return others.map((index) => ({ kind: "ConfigMap", namespace: "shared", name: `c${index}` }));
  }

  /** The hash of what the Pods of a workload would see now. */
  hashOf({ stored }: Actor): string {
    return viewThrough(stored.references, this.lookup).hash;
  }

  /** Stores what Wave wrote: new Pods are made. */
  roll(actor: Actor, hash: string, streak: number): void {
    actor.rolls.push(this.now);
    const { reads } = actor.shape;
    const values = reads.map((index) => this.#values.get(`c${index}`));
    const again = actor.written === hash;
    actor.written = hash;
    actor.rollout = {
      before: actor.rollout,
      byWave: true,
      again,
      changed: this.changedFor(actor),
      values,
      at: this.now,
      bad: reads.some((index) => this.isBad(index)),
    };
    actor.stored = {
      ...actor.stored,
      recordedHash: hash,
      streak: streak > 1 ? `${streak}` : undefined,
      rolledAt: Math.floor(this.now / 1000),
    };
  }

  /** Somebody takes away the hash that Wave wrote, and the Pods are replaced for it. */
  undo(actor: Actor): void {
    const before = actor.rollout;
    actor.rollout = { before, byWave: false, again: false, changed: [], values: [], at: this.now, bad: false };
    actor.stored = { ...actor.stored, recordedHash: `v2:${"0".repeat(64)}`, editedBy: "helm" };
  }

  /** A workload as the API tells it now. */
  told(actor: Actor): Workload {
    return { ...actor.stored, progress: this.progressOf(actor) };
  }

  progressOf({ shape: { kind, pods, podMs }, rollout }: Actor): Progress {
    const complete = (at: number | undefined): Progress => {
      return {
        state: "complete",
        since: at === undefined || kind !== "Deployment" ? undefined : Math.floor(at / 1000),
      };
    };
    if (rollout === undefined) return complete(undefined);
    const { at, bad } = rollout;
    if (bad && kind === "Deployment" && this.now >= at + deadlineMs) return { state: "failed" };
    const step = bad ? 0 : Math.floor((this.now - at) / podMs);
    return step >= pods ? complete(at + pods * podMs) : { state: "progressing", step, available: step };
  }

  /** When the next Pod becomes available or a deadline is over, milliseconds since the epoch. */
  next(): number {
    const times = this.actors.flatMap(({ shape: { kind, pods, podMs }, rollout }) => {
      if (rollout === undefined) return [];
      const { at, bad } = rollout;
      if (bad) return kind === "Deployment" ? [at + deadlineMs] : [];
      const step = Math.floor((this.now - at) / podMs) + 1;
      return step > pods ? [] : [at + step * podMs];
    });
    return Math.min(...times.filter((time) => time > this.now));
  }

  #actor(shape: Shape, index: number): Actor {
    const { kind, namespace } = shape;
    const annotations = { [extraConfigMaps]: shape.reads.map((config) => `shared/c${config}`).join(",") };
    const metadata = { namespace, name: `w${index}`, annotations: undefined };
    const made = workloadOf({ kind, annotations, metadata: { ...metadata, annotations: optedIn(annotations) } });
    const recordedHash = viewThrough(made.references, this.lookup).hash;
    const templateAnnotations = { [configHash]: recordedHash };
    const object = { kind, templateAnnotations, metadata: { ...metadata, annotations: optedIn(annotations) } };
    const stored = { ...workloadOf(object), policy: shape.policy };
    return { shape, key: workloadKey(stored), stored, rollout: undefined, written: undefined, rolls: [] };
  }
}

function optedIn(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { "wave.pusher.com/update-on-config-change": "true", ...annotations };
}
