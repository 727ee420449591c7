import { isWindowOpen } from "./model-window.ts";
import type { HistoryEntry, Pacing, StoredObject } from "./record.ts";

/** The rules for when one workload is rolled: its own annotations, then those of its Namespace, then the flags. */
export interface SaidOf {
  /** Whether Wave writes nothing at all. */
  readonly observes: boolean;
  /** Whether it is held, by a hold or by an unreadable value. */
  readonly holds: boolean;
  /** Whether each rollout needs the approval of a person. */
  readonly approves: boolean;
  /** The approved digits of the hash. */
  readonly approved: string | undefined;
  /** Undefined: at any time. */
  readonly window: string | undefined;
  readonly settleMs: number;
  readonly minIntervalMs: number;
  /** Whether it is outside of batches: it waits for no other workload, and no other waits for it. */
  readonly alone: boolean;
  readonly priority: number;
}

const prefix = "wave.pusher.com/";

/** Returns the policy of a workload in a namespace whose Namespace object is `namespace`. */
export function saidOf(workload: StoredObject, namespace: StoredObject | undefined, pacing: Pacing): SaidOf {
  let unread = false;
  const text = (name: string) =>
    workload.metadata.annotations?.[prefix + name] || namespace?.metadata.annotations?.[prefix + name] || undefined;
  const say = <T>(name: string, otherwise: T, read: (text: string) => T | undefined): T => {
    const said = text(name);
    if (said === undefined) return otherwise;
    const value = read(said);
    if (value === undefined) unread = true;
    return value ?? otherwise;
  };
  const hold = say("hold", false, (said) => ({ true: true, false: false })[said]);
  const mode = say("mode", "roll", (said) => ["roll", "observe", "approve"].find((one) => one === said));
  const window = say("window", pacing.window, (said) => (isWindowOpen(said, 0) === undefined ? undefined : said));
  const settleMs = say("settle", pacing.settleMs, durationOf);
  const approved = workload.metadata.annotations?.[`${prefix}approved`];
  return {
    minIntervalMs: say("min-interval", 0, durationOf),
    alone: say("batches", false, (said) => ({ on: false, off: true })[said]),
    priority: say("priority", 0, (said) => (/^[+-]?\d+$/.test(said) ? Number(said) : undefined)),
    observes: pacing.observe || mode === "observe",
    approves: mode === "approve",
    approved: approved !== undefined && /^[0-9a-f]{8,64}$/.test(approved) ? approved : undefined,
    window,
    settleMs,
    holds: hold || unread,
  };
}

/** Reports whether a hash has its required approval. */
export function isApproved({ approves, approved }: SaidOf, hash: string | undefined): boolean {
  if (!approves) return true;
  const [, digits = ""] = hash?.split(":") ?? [];
  return approved !== undefined && digits.startsWith(approved);
}

/** Reports whether a window is open at some moment between two times, and whether at all of them. */
export function openBetween(window: string | undefined, from: number, to: number): { some: boolean; all: boolean } {
  if (window === undefined) return { some: true, all: true };
  const minute = 60_000;
  const moments = [from, to];
  for (let at = Math.ceil(from / minute) * minute; at < to; at += minute) moments.push(at);
  const open = moments.map((at) => isWindowOpen(window, at) ?? false);
  return { some: open.includes(true), all: !open.includes(false) };
}

/** Reports whether an annotation of a ConfigMap or Secret requests no rollouts for it. */
export function asksForNone({ metadata }: StoredObject): boolean {
  const said = metadata.annotations?.[`${prefix}hold`] ?? "";
  return !["", "false"].includes(said);
}

function durationOf(text: string): number | undefined {
  if (text === "0") return 0;
  const [, number, unit = ""] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit];
  return factor === undefined ? undefined : Number(number) * factor;
}

/** How old the annotations of a Namespace may be that a replica knows, in milliseconds: Wave opens a watch without data again after 150 s. */
export const namespaceLateMs = 165_000;

/** Every state that every Namespace has had. */
export class NamespaceTimeline {
  readonly #states = new Map<string, { readonly at: number; readonly object: StoredObject | undefined }[]>();

  constructor(history: readonly HistoryEntry[]) {
    for (const { resource, at, before, after } of history) {
      const name = (after ?? before)?.metadata.name;
      if (resource !== "namespaces" || name === undefined) continue;
      const states = this.#states.get(name) ?? [{ at: Number.NEGATIVE_INFINITY, object: undefined }];
      this.#states.set(name, states);
      states.push({ at, object: after });
    }
  }

  /** Returns the states of a Namespace between two moments, in true virtual time. */
  between(name: string | undefined, from: number, to: number): readonly (StoredObject | undefined)[] {
    const states = this.#states.get(name ?? "") ?? [];
    const first = states.findLastIndex(({ at }) => at <= from);
    const found = states.slice(Math.max(0, first)).filter(({ at }) => at <= to);
    return found.length === 0 ? [undefined] : found.map(({ object }) => object);
  }
}
