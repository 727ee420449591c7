import type { HashKeys } from "../../domain/policy/hash-key.ts";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import type { Clock } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import { Waker } from "../../runtime/waker.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { type HashKeySecret, hashKeySecret, type SecretName, type StoredKeys } from "./hash-key-secret.ts";
import { storedKeys } from "./hash-key-step.ts";

/** What keeping the keys needs. */
export interface HashKeysOptions {
  readonly client: ApiClient;
  readonly secret: SecretName;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly random: () => number;
  /** Called when the keys have become others than they were, not for the first. */
  readonly onChange: () => void;
  /** A key's bytes. Default: random ones. */
  readonly newBytes?: () => Uint8Array;
}

/** How often the Secret is read besides at each of its changes. */
const lookEveryMs = 600_000;

/** How often the same problem is told of again. */
const sayAgainMs = 60_000;

/** More than anybody rotates during one run; what is forgotten becomes a baseline later. */
const mostRemembered = 8;

/**
 * The keys of hashes, the same for all replicas: made by the first one, rotated when a person asks, learnt when another
 * replica did. What this process has once learnt it never forgets: it goes on with it, and writes it back, when the Secret
 * is gone. It never overwrites a Secret that it does not understand. docs/adr/0008-hash-key.md has the reasons.
 */
export class HashKeysKeeper {
  readonly #options: HashKeysOptions;
  readonly #secret: HashKeySecret;
  readonly #waker = new Waker();
  readonly #first = Promise.withResolvers<void>();
  readonly #problemGauge;
  #keys: HashKeys | undefined;
  #problem: string | undefined = "the key of hashes was not read yet";
  /** When the problem was last told of, on the monotonic clock; undefined while there is none to tell of. */
  #saidAt: number | undefined;
  /** The step under way, which never rejects. */
  #last: Promise<void> = Promise.resolve();
  /** A step that begins after the one under way. */
  #next: Promise<void> | undefined;
  #stop: AbortSignal = new AbortController().signal;

  constructor(options: HashKeysOptions) {
    this.#options = options;
    this.#secret = hashKeySecret(options.client, options.secret);
    this.#problemGauge = options.metrics.gauge(clusterMetrics.hashKeyProblem);
    this.#problemGauge.set(1);
  }

  /** The keys as they are known now. Throws before `whenKnown`: what would be decided without them would be wrong. */
  known(): HashKeys {
    if (this.#keys === undefined) throw new Error("the key of hashes is not known yet");
    return this.#keys;
  }

  /** Why nothing can be decided, in one line; undefined once the keys are known. */
  readonly problem = (): string | undefined => (this.#keys === undefined ? this.#problem : undefined);

  /** Resolves when the keys are known; rejects with the signal's reason. */
  whenKnown(signal: AbortSignal): Promise<void> {
    return orAborted(this.#first.promise, signal);
  }

  /**
   * Resolves when the Secret was read at some moment from now on: a hash may be under a key that another replica has just
   * made. Rejects with an error in one line where that cannot be done, and with the signal's reason.
   */
  async readAgain(signal: AbortSignal): Promise<void> {
    try {
      await orAborted(this.#queued(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`cannot read the key of hashes: ${errorText(error)}`, { cause: error });
    }
  }

  /** Keeps the keys until the signal. What goes wrong is logged and tried again. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal;
    const { clock, random } = this.#options;
    const following = this.#follow(signal);
    for (let failures = 0; !signal.aborted; ) {
      let waitMs = lookEveryMs;
      try {
        await this.#queued();
        failures = 0;
        this.#well();
      } catch (error) {
        if (signal.aborted) break;
        this.#failed(errorText(error));
        waitMs = backoffMs(failures++, { baseMs: 500, maxMs: 30_000, random });
      }
      await this.#waker.wait(clock, waitMs, signal);
    }
    await following;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { client, clock, log, metrics, random, secret } = this.#options;
    const { namespace, name } = secret;
    const fieldSelector = `metadata.name=${name}`;
    const what = { client, resource: resources.secrets, namespace, fieldSelector };
    for await (const event of listWatch({ ...what, clock, log, metrics, random, signal })) {
      if (event.type !== "init") this.#waker.wake();
    }
  }

  /** All who ask while a step is under way share the next one. */
  #queued(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      const step = this.#step();
      this.#last = step.catch(() => {});
      return step;
    });
    return this.#next;
  }

  async #step(): Promise<void> {
    const { newBytes, log } = this.#options;
    this.#learn(await storedKeys({ secret: this.#secret, known: this.#keys, newBytes, log, signal: this.#stop }));
  }

  #learn({ current, previous }: StoredKeys): void {
    const before = this.#keys;
    const stored = previous === undefined ? [current.id] : [current.id, previous.id];
    const known = before && [before.current, ...(before.previous ? [before.previous] : []), ...before.remembered];
    const remembered = (known ?? []).filter(({ id }) => !stored.includes(id)).slice(0, mostRemembered);
    this.#keys = { current, previous, remembered };
    this.#first.resolve();
    if (before === undefined) this.#options.log.info("hashes are made under a key", { key: current.id });
    else if (idsOf(before) !== idsOf(this.#keys)) this.#options.onChange();
  }

  #well(): void {
    if (this.#saidAt !== undefined) this.#options.log.info("the key of hashes is as it has to be again");
    this.#saidAt = undefined;
    this.#problem = undefined;
    this.#problemGauge.set(0);
  }

  #failed(problem: string): void {
    const { clock, log } = this.#options;
    const saidMs = this.#saidAt === undefined ? sayAgainMs : clock.monotonic() - this.#saidAt;
    if (problem !== this.#problem || saidMs >= sayAgainMs) {
      const until = this.#keys === undefined ? "nothing is decided before" : "going on with the keys that are known";
      log.error(`${problem}; ${until}, trying again`, { secret: this.#secret.where });
      this.#saidAt = clock.monotonic();
    }
    this.#problem = problem;
    this.#problemGauge.set(1);
  }
}

function idsOf({ current, previous }: StoredKeys): string {
  return `${current.id} ${previous?.id}`;
}

/** As `work`, but rejects with the signal's reason as soon as it is aborted. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
