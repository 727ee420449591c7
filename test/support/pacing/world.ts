import type { Config } from "../../../src/domain/config/digest.ts";
import { type Lookup, viewOfReferences } from "../../../src/domain/config/view-of-references.ts";
import type { Progress } from "../../../src/domain/model/kind-row.ts";
import { type Workload, workloadKey } from "../../../src/domain/model/workload-shape.ts";
import type { IncompleteRollout } from "../../../src/domain/outcomes/outcomes.ts";
import { incompleteMark } from "../../../src/domain/pacing/rollout-time.ts";
import { configHash, extraConfigMaps } from "../../../src/domain/references/annotations.ts";
import { type ConfigName, configKey } from "../../../src/domain/references/references.ts";
import { configMap, workload as workloadOf } from "../domain/objects.ts";

/** The properties of a workload of a {@link World}. */
export interface Shape {
  readonly namespace: string;
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet";
  /** The numbers of the ConfigMaps that it reads. */
  readonly reads: readonly number[];
  /** The number of Pods, and the time to replace each. They are replaced one after the other. */
  readonly pods: number;
  readonly podMs: number;
  readonly policy: Readonly<Record<string, string>>;
  /** Whether one of its Pods never becomes available, for a reason of its own. */
  readonly broken?: boolean;
}

/** A replacement of all Pods of a workload. Pods that read a bad value never become available. */
export interface Rollout {
  readonly byWave: boolean;
  /** Whether the same hash was written before, and another client removed it. */
  readonly again: boolean;
  /** The changed objects. */
  readonly changed: readonly ConfigName[];
  /** The values that the Pods read, by the numbers of the ConfigMaps. */
  readonly values: readonly (string | undefined)[];
  readonly at: number;
  readonly bad: boolean;
  /** Whether the workload was complete before. */
  readonly wasComplete: boolean;
  /** The previous rollout. */
  readonly before: Rollout | undefined;
}

/** A stored workload and the state of its Pods. */
export interface Actor {
  readonly shape: Shape;
  readonly key: string;
  stored: Workload;
  rollout: Rollout | undefined;
  /** The hash that Wave wrote last. */
  written: string | undefined;
  /** The times of all rollouts by Wave. */
  readonly rolls: number[];
}

/** What Wave records with a rollout. */
export interface RecordedRollout {
  readonly consecutiveRollouts?: number;
  readonly incomplete?: IncompleteRollout | undefined;
}

/** The progress deadline of a Deployment in milliseconds: the default of the API. */
const deadlineMs = 600_000;

/** A small cluster for tests: stored objects, and Pods that are replaced over time. Everything starts up to date. */
export class World {
  now: number;
  readonly actors: readonly Actor[];
  readonly #configs = new Map<string, Config>();
  readonly #values = new Map<string, string>();

  readonly #ordered: boolean;

  /** `ordered`: as Kubernetes does, StatefulSets do not replace a broken Pod. */
  constructor(shapes: readonly Shape[], configs: number, now: number, ordered = false) {
    this.#ordered = ordered;
    this.now = now - 3_600_000;
    for (let index = 0; index < configs; index++) this.edit(index, "good");
    this.actors = shapes.map((shape, index) => this.#actor(shape, index));
    this.now = now;
  }

  readonly lookup: Lookup = (kind, namespace, name) => this.#configs.get(configKey({ kind, namespace, name }));

  /** Edits a ConfigMap and returns it if the value changed. A value that begins with "bad" breaks every Pod that starts with it. */
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

  /** Reports whether new Pods that read a ConfigMap would be broken. */
  isBad(index: number): boolean {
    return this.#values.get(`c${index}`)?.startsWith("bad") ?? false;
  }

  /** Returns the ConfigMaps whose current values the Pods do not read, if Wave rolled the workload before. */
  changedFor({ rollout, shape: { reads } }: Actor): readonly ConfigName[] {
    const others = reads.filter((index, place) => {
      return rollout?.byWave && rollout.values[place] !== this.#values.get(`c${index}`);
    });
    return others.map((index) => ({ kind: "ConfigMap", namespace: "shared", name: `c${index}` }));
  }

  /** Returns the hash of the configuration that new Pods would read. */
  hashOf({ stored }: Actor): string {
    return viewOfReferences(stored.references, this.lookup).hash;
  }

  /** Stores a write of Wave: new Pods are created. */
  roll(actor: Actor, hash: string, { consecutiveRollouts = 1, incomplete }: RecordedRollout): void {
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
      bad: reads.some((index) => this.isBad(index)) || this.#isStuck(actor),
      wasComplete: this.progressOf(actor).state === "complete",
    };
    actor.stored = {
      ...actor.stored,
      recordedHash: hash,
      consecutiveRollouts: consecutiveRollouts > 1 ? `${consecutiveRollouts}` : undefined,
      rolledIncomplete: incomplete && incompleteMark(incomplete),
      rolledAt: Math.floor(this.now / 1000),
      hashWrittenAt: Math.floor(this.now / 1000),
    };
  }

  /** Another client removes the hash that Wave wrote, and the Pods are replaced. */
  undo(actor: Actor): void {
    const before = actor.rollout;
    actor.rollout = {
      before,
      byWave: false,
      again: false,
      changed: [],
      values: [],
      at: this.now,
      bad: false,
      wasComplete: true,
    };
    actor.stored = { ...actor.stored, recordedHash: `v2:${"0".repeat(64)}`, editedBy: "helm" };
  }

  /** Returns a workload as the API shows it now. */
  observed(actor: Actor): Workload {
    return { ...actor.stored, progress: this.progressOf(actor) };
  }

  progressOf({ shape: { kind, pods, podMs, broken }, rollout }: Actor): Progress {
    if (broken) {
      if (kind === "Deployment" && this.now >= (rollout?.at ?? 0) + deadlineMs) return { state: "failed" };
      return { state: "progressing", step: 0, available: pods - 1 };
    }
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

  /** Returns when the next Pod becomes available or a deadline ends, milliseconds since the epoch. */
  next(): number {
    const times = this.actors.flatMap(({ shape: { kind, pods, podMs, broken }, rollout }) => {
      if (rollout === undefined) return [];
      const { at, bad } = rollout;
      if (bad || broken) return kind === "Deployment" ? [at + deadlineMs] : [];
      const step = Math.floor((this.now - at) / podMs) + 1;
      return step > pods ? [] : [at + step * podMs];
    });
    return Math.min(...times.filter((time) => time > this.now));
  }

  /** Reports whether Kubernetes does not replace the Pods: it waits until a broken Pod of the last rollout is ready. */
  #isStuck({ shape: { kind }, rollout }: Actor): boolean {
    return this.#ordered && kind === "StatefulSet" && rollout?.bad === true;
  }

  #actor(shape: Shape, index: number): Actor {
    const { kind, namespace } = shape;
    const annotations = { [extraConfigMaps]: shape.reads.map((config) => `shared/c${config}`).join(",") };
    const metadata = { namespace, name: `w${index}`, annotations: undefined };
    const made = workloadOf({ kind, annotations, metadata: { ...metadata, annotations: optedIn(annotations) } });
    const recordedHash = viewOfReferences(made.references, this.lookup).hash;
    const templateAnnotations = { [configHash]: recordedHash };
    const object = { kind, templateAnnotations, metadata: { ...metadata, annotations: optedIn(annotations) } };
    const stored = { ...workloadOf(object), policy: shape.policy };
    return { shape, key: workloadKey(stored), stored, rollout: undefined, written: undefined, rolls: [] };
  }
}

function optedIn(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { "wave.pusher.com/update-on-config-change": "true", ...annotations };
}
