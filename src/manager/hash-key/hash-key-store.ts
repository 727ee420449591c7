// The hash key: one Secret, shared by all replicas. Knows domain/policy and kube.
import type { HashKeys } from "../../domain/policy/hash-key.ts";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import type { OwnSecret, SecretName } from "../../kube/secrets/own-secret.ts";
import { backoffMs, Waker } from "../../runtime/timers.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import { hashKeySecret, reconcileHashKeys, type StoredKeys } from "./hash-key-secret.ts";

interface HashKeyStoreOptions extends ProcessContext {
  readonly client: ApiClient;
  readonly secret: SecretName;
  /** Called when the keys change, but not for the first ones. */
  readonly onChange: () => void;
  /** Creates the bytes of a key. Default: random bytes. */
  readonly newBytes?: () => Uint8Array;
}

/** Interval at which the Secret is read even if the watch reports no change. */
const rereadMs = 600_000;

/** Minimum time between two log lines of the same problem. */
const relogMs = 60_000;

/** Maximum number of remembered keys. A hash under a forgotten key is treated as one under an unknown key. */
const maxRemembered = 8;

/**
 * The hash keys, which are the same for all replicas. The first replica creates the key, and any replica rotates it on request.
 * This process never forgets a current key: if the Secret is deleted, it continues with the key and writes it back. It never
 * overwrites a damaged Secret. contributing/adr/0008-hash-key.md has the reasons.
 */
export class HashKeyStore {
  readonly #options: HashKeyStoreOptions;
  readonly #secret: OwnSecret;
  readonly #waker = new Waker();
  readonly #first = Promise.withResolvers<void>();
  readonly #problemGauge;
  #keys: HashKeys | undefined;
  #problem: string | undefined = "the hash key was not read yet";
  /** Monotonic time of the last log line of the problem; undefined if no problem was logged. */
  #loggedAt: number | undefined;
  /** The last reconcile. It never rejects. */
  #last: Promise<void> = Promise.resolve();
  /** The reconcile that starts after the current one. */
  #next: Promise<void> | undefined;
  #stop: AbortSignal = new AbortController().signal;

  constructor(options: HashKeyStoreOptions) {
    this.#options = options;
    this.#secret = hashKeySecret(options.client, options.secret);
    this.#problemGauge = options.metrics.gauge(clusterMetrics.hashKeyProblem);
    this.#problemGauge.set(1);
  }

  /** Returns the current keys. Throws before `whenKnown`, because a plan without them would be wrong. */
  known(): HashKeys {
    if (this.#keys === undefined) throw new Error("the hash key is not known yet");
    return this.#keys;
  }

  /** Returns why no plan can run, in one line; undefined after the keys are known. */
  readonly problem = (): string | undefined => (this.#keys === undefined ? this.#problem : undefined);

  /** Resolves when the keys are known. Rejects with the reason of the signal. */
  whenKnown(signal: AbortSignal): Promise<void> {
    return orAborted(this.#first.promise, signal);
  }

  /**
   * Resolves when the Secret was read after this call, because a hash may use a key that another replica has just created. Rejects
   * with an Error of one line if the read fails, and with the reason of the signal.
   */
  async reread(signal: AbortSignal): Promise<void> {
    try {
      await orAborted(this.#nextReconcile(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`cannot read the hash key: ${errorText(error)}`, { cause: error });
    }
  }

  /** Keeps the keys up to date until the signal. Logs failures and retries. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal;
    const { clock, random } = this.#options;
    const following = this.#follow(signal);
    for (let failures = 0; !signal.aborted; ) {
      let waitMs = rereadMs;
      try {
        await this.#nextReconcile();
        failures = 0;
        this.#recovered();
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

  /** Returns the next reconcile, which all callers during the current one share. */
  #nextReconcile(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      const reconcile = this.#reconcile();
      this.#last = reconcile.catch(() => {});
      return reconcile;
    });
    return this.#next;
  }

  async #reconcile(): Promise<void> {
    const { newBytes, log } = this.#options;
    this.#learn(
      await reconcileHashKeys({ secret: this.#secret, known: this.#keys, newBytes, log, signal: this.#stop }),
    );
  }

  #learn({ current, previous }: StoredKeys): void {
    const before = this.#keys;
    const stored = previous === undefined ? [current.id] : [current.id, previous.id];
    const known = before && [before.current, ...(before.previous ? [before.previous] : []), ...before.remembered];
    const remembered = (known ?? []).filter(({ id }) => !stored.includes(id)).slice(0, maxRemembered);
    this.#keys = { current, previous, remembered };
    this.#first.resolve();
    // Each replica says it: another one may have rotated the key.
    if (before?.current.id !== current.id) this.#options.log.info("using a hash key", { key: current.id });
    if (before !== undefined && idsOf(before) !== idsOf(this.#keys)) this.#options.onChange();
  }

  #recovered(): void {
    if (this.#loggedAt !== undefined) this.#options.log.info("the hash key can be read again");
    this.#loggedAt = undefined;
    this.#problem = undefined;
    this.#problemGauge.set(0);
  }

  #failed(problem: string): void {
    const { clock, log } = this.#options;
    const sinceLogMs = this.#loggedAt === undefined ? relogMs : clock.monotonic() - this.#loggedAt;
    if (problem !== this.#problem || sinceLogMs >= relogMs) {
      const fields = { secret: this.#secret.description, error: problem };
      if (this.#keys === undefined) log.error(logMessages.hashKeyUnknown, fields);
      else log.error(logMessages.hashKeyStale, fields);
      this.#loggedAt = clock.monotonic();
    }
    this.#problem = problem;
    this.#problemGauge.set(1);
  }
}

function idsOf({ current, previous }: StoredKeys): string {
  return `${current.id} ${previous?.id}`;
}

/** Settles like `work`, but rejects with the reason of the signal when it is aborted. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
