import type { Progress } from "../progress.ts";

/** Numbers of Pods, by which many kinds tell how far their rollout is. */
export interface Counts {
  /** Whether they are of the spec as it is now. */
  readonly observed: boolean;
  /** How many there are to be. */
  readonly wanted: number;
  /** How many are to be made of the newest template; fewer than `wanted` where a partition keeps some. */
  readonly toUpdate: number;
  readonly updated: number;
  readonly available: number;
  /** How many there are, where there may be more than wanted. */
  readonly there?: number | undefined;
}

/** How far a rollout is by the numbers of its Pods. */
export function progressByCounts(counts: Counts): Progress {
  const { observed, wanted, toUpdate, updated, available, there = wanted } = counts;
  const isDone = observed && updated >= Math.min(toUpdate, wanted) && available >= wanted && there <= wanted;
  if (!isDone) return { state: "progressing", step: 2 * updated + available - there, available };
  return toUpdate <= 0 || wanted === 0 ? { state: "idle" } : { state: "complete", since: undefined };
}

/** A number of a status or spec; undefined where it is none. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Whether a status is of the spec as it is now: the generation that it names, a number or as a text. */
export function isObserved(generation: number | undefined, observed: unknown): boolean {
  const seen = typeof observed === "string" ? Number(observed) : (numberOf(observed) ?? 0);
  return seen > 0 && seen >= (generation ?? 0);
}

/** The fields of a spec or status, of which nothing is known. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** A text of a spec or status; "" where it is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
