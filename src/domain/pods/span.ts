// domain/pods: what running Pods have read, and when that must be repaired. Knows workloads and references, no plan. Pure.

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
    const end = to === undefined ? "" : secondText(Math.ceil(to / 1000));
    return `${secondText(Math.floor(from / 1000))}/${end}`;
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

function secondText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
