import { namespaceOf } from "../../domain/model/workload-key.ts";
import type { Clock } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import type { TokenBucket } from "../../runtime/token-bucket.ts";
import { WritePermits } from "../../runtime/write-permits.ts";
import type { ownershipMetrics } from "../../telemetry/catalogue/owner-references.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { LabelsOf } from "../../telemetry/metrics/metric-row.ts";
import type { Counter } from "../../telemetry/metrics/metrics.ts";
import { failureOf } from "./retry.ts";
import { Reverted } from "./reverted-owners.ts";
import type { Written } from "./writes.ts";

/** What {@link PacedWrites} work with. */
export interface PacedWritesOptions {
  readonly leadership: Leadership;
  readonly tokens: TokenBucket;
  readonly writes: Counter<LabelsOf<typeof ownershipMetrics.writes>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/**
 * Each try is made from what is stored then: edits of others do not come in between so often, and what a policy refuses is 422, too
 * (https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/).
 */
const conflictsUntilRefused = 4;

/** A write of one object. */
export interface PacedWrite {
  /** The key of the object. */
  readonly key: string;
  readonly priority: Priority;
  /** What it changes, to be compared with what was changed before; this may become clear by writing. */
  readonly changes: () => readonly string[];
  readonly send: () => Promise<Written>;
}

/**
 * Writes each at its time: in turns that go round the namespaces, not before the API server wants to be asked again, and
 * less and less often what fails or what somebody undoes.
 */
export class PacedWrites {
  readonly #options: PacedWritesOptions;
  readonly #again: (key: string, delayMs: number) => void;
  readonly #permits: WritePermits;
  readonly #reverted = new Reverted();
  /** How often each key has failed in a row, and before when the API server does not want to be asked again, whoever asks. */
  readonly #failures = new Map<string, { readonly count: number; readonly notBefore: number }>();

  /** `onTurn` is told whose turn it is now, and `again` what is to be run again, and when. */
  constructor(
    options: PacedWritesOptions,
    { onTurn, again }: { onTurn: (key: string) => void; again: (key: string, delayMs: number) => void },
  ) {
    const { clock, tokens } = options;
    this.#options = options;
    this.#again = again;
    this.#permits = new WritePermits({ clock, tokens, flowOf: namespaceOf, onGiven: onTurn });
  }

  /** False where it is not its time yet: then its key is run again. Rejects with what the write rejects with: tell `failed`. */
  async write({ key, priority, changes, send }: PacedWrite): Promise<boolean> {
    const { leadership, log, writes, clock } = this.#options;
    const now = clock.monotonic();
    const { notBefore = now } = this.#failures.get(key) ?? {};
    const delayMs = Math.max(notBefore - now, this.#reverted.waitMs(key, changes(), now, priority === "high"));
    if (delayMs > 0) {
      this.#permits.drop(key);
      this.#again(key, delayMs);
      return false;
    }
    if (leadership.abort.aborted || !leadership.valid() || !this.#permits.take(key, priority)) return false;
    if ((await send()) === "nothing") {
      this.#permits.giveBack();
      return true;
    }
    writes.inc({ result: "written" });
    log.info("owner references written", { object: key });
    if (this.#reverted.wrote(key, changes(), clock.monotonic())) {
      log.warn("somebody undoes what is written of owner references, writing it again less and less often", {
        object: key,
      });
    }
    return true;
  }

  /** A run of a key ended, with a write or without. */
  done(key: string): void {
    this.#failures.delete(key);
    this.#permits.drop(key);
  }

  /** A run of a key failed: it is run again. True where that may go on for ever, because the API server refuses it. */
  failed(key: string, error: unknown): boolean {
    const { leadership, random, log, writes, clock } = this.#options;
    this.#permits.drop(key);
    if (leadership.stop.aborted || leadership.abort.aborted) return false;
    const { result, maxMs, retryAfterMs } = failureOf(error);
    const failures = this.#failures.get(key)?.count ?? 0;
    this.#failures.set(key, { count: failures + 1, notBefore: clock.monotonic() + retryAfterMs });
    writes.inc({ result });
    if (failures === (result === "conflict" ? conflictsUntilRefused : 0)) {
      log.warn("cannot write owner references, trying again", { object: key, error: errorText(error) });
    }
    this.#again(key, Math.max(retryAfterMs, backoffMs(failures, { baseMs: 200, maxMs, random })));
    return result === "refused" || (result === "conflict" && failures >= conflictsUntilRefused);
  }

  /** Nothing is written any more. */
  close(): void {
    this.#permits.close();
  }
}
