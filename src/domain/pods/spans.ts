// domain/pods: what running Pods have read, and when that must be repaired. Knows workloads and references, no plan. Pure.
import { formatTime } from "../syntax/time.ts";

/**
 * A time in which the live configuration differed from that of a recorded hash. A Pod with this hash whose containers started in it
 * may run another configuration. Milliseconds since the epoch.
 */
export interface Span {
  readonly from: number;
  /** Undefined: the configuration still differs. */
  readonly to: number | undefined;
}

/** Limit of the spans that are kept of one workload. Above it, the closest spans are merged. */
export const maxSpans = 8;

/** Returns the span that is still open; undefined if the live configuration is that of the recorded hash. */
export function openSpanOf(spans: readonly Span[]): Span | undefined {
  return spans.find(({ to }) => to === undefined);
}

/** Returns spans in order, without overlaps, at most {@link maxSpans}. A merged span covers the time between its parts, too. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || endOf(last) < span.from) merged.push(span);
    else merged[merged.length - 1] = joined(last, span);
  }
  while (merged.length > maxSpans) {
    const gaps = merged.slice(1).map(({ from }, index) => from - endOf(merged[index] as Span));
    const index = gaps.indexOf(Math.min(...gaps));
    const [first, second] = merged.slice(index, index + 2) as [Span, Span];
    merged.splice(index, 2, joined(first, second));
  }
  return merged;
}

function joined(first: Span, second: Span): Span {
  const to = Math.max(endOf(first), endOf(second));
  return { from: first.from, to: Number.isFinite(to) ? to : undefined };
}

/** Returns the end of a span; Infinity if it is open. */
export function endOf({ to }: Span): number {
  return to ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns the value of the annotation: the hash, a space, and spans in whole seconds as `start/end`, separated by commas. An open span
 * has no end.
 */
export function formatSpans(hash: string | undefined, spans: readonly Span[]): string {
  const texts = mergeSpans(spans).map(({ from, to }) => {
    const end = to === undefined ? "" : formatTime(Math.ceil(to / 1000) * 1000);
    return `${formatTime(from)}/${end}`;
  });
  return `${hash ?? ""} ${texts.join(",")}`;
}

/**
 * Parses the annotation. Returns no span if the text is malformed or belongs to another hash than `hash`, for example after
 * `kubectl rollout undo`. `now` is in milliseconds since the epoch: no span ends later, because anyone may write the annotation, and a
 * Pod must not be replaced again and again.
 */
export function parseSpans(text: string | undefined, hash: string | undefined, now: number): readonly Span[] {
  const start = `${hash ?? ""} `;
  if (text === undefined || text.length > maxTextLength || !text.startsWith(start)) return [];
  const spans: Span[] = [];
  for (const each of text.slice(start.length).split(",")) {
    const form = spanForm.exec(each);
    if (form === null) return [];
    const from = Date.parse(form[1] ?? "");
    const to = form[2] ? Date.parse(form[2]) : undefined;
    if (Number.isNaN(from) || Number.isNaN(to ?? 0) || from > (to ?? from)) return [];
    if (from <= now) spans.push({ from, to: to === undefined ? undefined : Math.min(to, now) });
  }
  return mergeSpans(spans);
}

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
const spanForm = new RegExp(`^(${time})/(${time})?$`);
/** Longer than a hash and the longest list of spans. */
const maxTextLength = 600;

/** A shorter span is only kept in memory, in milliseconds: each note is a write. */
export const noteAfterMs = 30_000;

/** Limit of the earlier hashes whose spans are kept. A workload whose rollouts never complete would otherwise keep all of them. */
export const maxEarlierHashes = 8;

/** What is known of one workload: the spans of its recorded hash, and of earlier hashes that Pods may still have. */
export interface KnownSpans {
  readonly uid: string;
  /** The hash in its pod template. */
  readonly hash: string | undefined;
  /** The spans by hash: earlier hashes, the latest first, then the recorded hash. */
  readonly spans: ReadonlyMap<string | undefined, readonly Span[]>;
  /**
   * Since when an open span of the recorded hash may be an error of caches that are behind, in milliseconds since the epoch; undefined if
   * it is certain.
   */
  readonly uncertainSince: number | undefined;
}

/** What a plan has shown about the configuration of a workload. Times are in milliseconds since the epoch. */
export interface ConfigObservation {
  readonly uid: string;
  readonly hash: string | undefined;
  /** Whether new Pods would read another configuration than that of the recorded hash. */
  readonly differs: boolean;
  /** Whether an object may have changed. Otherwise only the references of the workload differ. */
  readonly mayBeEdited: boolean;
  /** The hash of the live configuration; undefined if it is not known. */
  readonly liveHash: string | undefined;
  /** When the configuration began to change, as far as that is known. */
  readonly changedFrom: number;
  /** When the configuration last changed, as far as that is known. */
  readonly changedTo: number;
  /** Whether the caches once matched the recorded hash, so that a difference is a later change. */
  readonly certain: boolean;
  /** Whether all its Pods have the recorded hash, because its rollout is complete. */
  readonly complete: boolean;
  /** The annotation with its spans. */
  readonly annotation: string | undefined;
  readonly now: number;
}

/** Returns the known spans after an observation; undefined if nothing must be remembered. */
export function observeConfig(before: KnownSpans | undefined, seen: ConfigObservation): KnownSpans | undefined {
  const known = before?.uid === seen.uid ? before : knownFrom(seen);
  const isSameHash = known.hash === seen.hash;
  const spans = new Map<string | undefined, readonly Span[]>();
  const earlier = isSameHash ? known.spans : new Map([[known.hash, []], ...known.spans]);
  for (const [hash, ofHash] of earlier) {
    if (hash === seen.hash || seen.complete || hash === undefined || spans.size === maxEarlierHashes) continue;
    const ofEarlier = after(ofHash, seen.liveHash === undefined || seen.liveHash !== hash, seen);
    if (ofEarlier.length > 0) spans.set(hash, ofEarlier);
  }
  const own = known.spans.get(seen.hash) ?? [];
  const uncertainBefore = isSameHash ? known.uncertainSince : undefined;
  const isMistaken = !seen.differs && uncertainBefore !== undefined && seen.now - uncertainBefore < noteAfterMs;
  const ofRecorded = isMistaken ? own.filter(({ to }) => to !== undefined) : after(own, seen.differs, seen);
  if (ofRecorded.length > 0) spans.set(seen.hash, ofRecorded);
  if (spans.size === 0) return undefined;
  return { uid: seen.uid, hash: seen.hash, spans, uncertainSince: uncertaintyAfter(uncertainBefore, own, seen) };
}

/** Returns the spans of a hash after an observation: opens or closes the last one if that has changed. */
function after(
  spans: readonly Span[],
  differs: boolean,
  { mayBeEdited, changedFrom, changedTo }: ConfigObservation,
): readonly Span[] {
  const open = openSpanOf(spans);
  if (differs && open === undefined)
    return mayBeEdited ? mergeSpans([...spans, { from: changedFrom, to: undefined }]) : spans;
  if (differs || open === undefined) return spans;
  return mergeSpans(spans.map((span) => (span === open ? { ...span, to: Math.max(span.from, changedTo) } : span)));
}

/** Returns since when the open span is uncertain. It is certain after {@link noteAfterMs}: no cache is behind for so long. */
function uncertaintyAfter(
  before: number | undefined,
  own: readonly Span[],
  { differs, certain, now }: ConfigObservation,
): number | undefined {
  if (!differs || certain) return undefined;
  if (openSpanOf(own) === undefined) return now;
  return before === undefined || now - before >= noteAfterMs ? undefined : before;
}

/** Returns the known spans of a workload that this process has not seen before, from the annotation. */
function knownFrom({ uid, hash, annotation, now }: ConfigObservation): KnownSpans {
  const written = hashOfAnnotation(annotation);
  const spans = new Map<string | undefined, readonly Span[]>();
  const parsed = parseSpans(annotation, written, now);
  if (parsed.length > 0) spans.set(written, parsed);
  return { uid, hash, spans, uncertainSince: undefined };
}

function hashOfAnnotation(annotation: string | undefined): string | undefined {
  return annotation?.slice(0, annotation.indexOf(" ")) || undefined;
}

/** Returns the spans of the recorded hash. */
export function recordedSpans({ hash, spans }: KnownSpans): readonly Span[] {
  return spans.get(hash) ?? [];
}

/** Returns the known spans without the spans of the recorded hash that have ended until `until`; undefined if nothing is left. */
export function withoutSpansUntil(known: KnownSpans, until: number): KnownSpans | undefined {
  const left = recordedSpans(known).filter(({ to }) => to === undefined || to > until);
  const spans = new Map(known.spans);
  if (left.length > 0) spans.set(known.hash, left);
  else spans.delete(known.hash);
  return spans.size === 0 ? undefined : { ...known, spans };
}

/**
 * Returns the annotation that a workload must have; undefined: none. Short spans are not noted, unless `hasMixedPods`. A note of an
 * earlier hash stays as long as Pods may have that hash.
 */
export function annotationFor(
  known: KnownSpans | undefined,
  annotation: string | undefined,
  hasMixedPods: boolean,
  now: number,
): string | undefined {
  if (known === undefined) return undefined;
  const own = recordedSpans(known);
  const isLong = own.some(({ from, to = now }) => to - from >= noteAfterMs);
  if (own.length > 0 && known.uncertainSince === undefined && (isLong || hasMixedPods)) {
    return formatSpans(known.hash, own);
  }
  const earlier = hashOfAnnotation(annotation);
  return earlier !== known.hash && known.spans.has(earlier) ? annotation : undefined;
}
