import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { age } from "../../../src/cli/output/sentences.ts";
import type { TimelineEntry } from "../../../src/cli/ui/model.ts";
import { usePage } from "../context.ts";
import { ScopeFields } from "../parts/filters.tsx";
import { Rows } from "../parts/rows.tsx";
import { local } from "../parts/times.tsx";
import { hrefOf } from "../place.ts";
import { nameOf, type Tone } from "../states.ts";
import { NotLoaded, useLoaded } from "./loaded.tsx";
import { type Drawn, entriesIn, type Lane, layOutTimeline, mostDrawn } from "./timeline-layout.ts";

const hour = 3_600_000;
const spans = [hour / 4, hour, 6 * hour, 24 * hour, 7 * 24 * hour, 30 * 24 * hour];
const usual = 6 * hour;
/** The timeline is read again after this time, in milliseconds. */
const rereadMs = 15_000;

/** Shows what happened as a picture with a lane for each namespace, and as a list. */
export function Timeline() {
  const { source, navigation, now } = usePage();
  const { cluster, namespace, span: given } = navigation.place.value;
  const span = Math.max(60_000, Number(given) || usual);
  // The end of the picture; null follows the time.
  const end = useSignal<number | null>(null);
  const turn = useComputed(() => Math.floor(now.value / rereadMs));
  const to = end.value ?? turn.value * rereadMs + rereadMs;
  const from = to - span;
  const loaded = useLoaded(() => source.loadTimeline(from, namespace), [from, namespace]);
  const entries = entriesIn(loaded.value ?? [], { from, to }).filter(
    (entry) => cluster === "" || entry.cluster === cluster,
  );

  const zoom = (factor: number) => {
    const next = Math.min(spans.at(-1) as number, Math.max(60_000, span * factor));
    // The middle of the picture stays, unless the picture follows the time.
    if (end.value !== null) end.value = Math.min(now.peek(), from + span / 2 + next / 2);
    navigation.adjust({ span: String(Math.round(next)) });
  };
  const move = (share: number) => {
    const next = to + share * span;
    end.value = next >= now.peek() ? null : next;
  };
  const keys: Readonly<Record<string, () => void>> = {
    "+": () => zoom(0.5),
    "-": () => zoom(2),
    PageUp: () => move(-0.5),
    PageDown: () => move(0.5),
  };
  return (
    <>
      <div class="controls">
        <ScopeFields withText={false} />
        <div class="toolbar" role="group" aria-label="Time">
          <label>
            Span
            <select
              value={String(span)}
              onChange={({ currentTarget }) => navigation.adjust({ span: currentTarget.value })}
            >
              {[...new Set([...spans, span])]
                .sort((a, b) => a - b)
                .map((each) => (
                  <option key={each} value={String(each)}>
                    {age(each)}
                  </option>
                ))}
            </select>
          </label>
          <button type="button" onClick={() => zoom(0.5)} aria-label="Zoom in">
            +
          </button>
          <button type="button" onClick={() => zoom(2)} aria-label="Zoom out">
            −
          </button>
          <button type="button" onClick={() => move(-0.5)}>
            Earlier
          </button>
          <button type="button" onClick={() => move(0.5)} disabled={end.value === null}>
            Later
          </button>
          <button type="button" onClick={() => exportEntries(entries)} disabled={entries.length === 0}>
            Export as JSON
          </button>
        </div>
      </div>
      <NotLoaded {...loaded} />
      {loaded.value !== undefined && entries.length === 0 && <p class="empty">Nothing happened in this time.</p>}
      {entries.length > 0 && (
        // biome-ignore lint/a11y/noStaticElementInteractions: it receives the keys of the links inside.
        <div
          onKeyDown={(event) => {
            const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
            if (action === undefined) return;
            event.preventDefault();
            action();
          }}
          onWheel={(event) => {
            if (!event.ctrlKey) return;
            event.preventDefault();
            zoom(event.deltaY > 0 ? 1.25 : 0.8);
          }}
        >
          <Legend />
          <Picture entries={entries} from={from} to={to} />
        </div>
      )}
      {entries.length > mostDrawn && <p class="quiet">The picture shows the newest {mostDrawn} entries.</p>}
      {entries.length > 0 && <EntryList entries={entries} />}
    </>
  );
}

interface PictureProps {
  readonly entries: readonly TimelineEntry[];
  readonly from: number;
  readonly to: number;
}

function Picture({ entries, from, to }: PictureProps) {
  const { source } = usePage();
  const hrefOfEntry = useHrefOfEntry();
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(800);
  const current = useSignal(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([change]) => {
      width.value = Math.max(200, Math.floor(change?.contentRect.width ?? 800));
    });
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const { lanes, height, ticks } = layOutTimeline(entries, { from, to }, width.value - 2);
  const contexts = Object.keys(source.model.value.clusters).length;
  const all = lanes.flatMap(({ drawn }) => drawn).sort((a, b) => a.entry.at - b.entry.at);
  const chosen = Math.min(current.value, all.length - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: all.length - 1 };
    const index = (to as Readonly<Record<string, number>>)[event.key];
    if (index === undefined || index < 0 || index >= all.length) return;
    event.preventDefault();
    current.value = index;
    requestAnimationFrame(() => box.current?.querySelector<SVGAElement>('a[tabindex="0"]')?.focus());
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it receives the keys of the links inside.
    <div ref={box} class="timeline" onKeyDown={onKeyDown}>
      <svg
        viewBox={`0 0 ${width.value - 2} ${height}`}
        width={width.value - 2}
        height={height}
        role="group"
        aria-label={`Timeline with ${all.length} entries. Arrow keys move between entries, + and - zoom.`}
      >
        {ticks.map(({ x, at }) => (
          <g key={at} class="tick">
            <line x1={x} x2={x} y1="20" y2={height} />
            <text x={Math.min(x, width.value - 44)} y="14">
              {tickText(at, to - from)}
            </text>
          </g>
        ))}
        {lanes.map((lane) => (
          <LaneGroup
            key={lane.key}
            lane={lane}
            hrefOfEntry={hrefOfEntry}
            width={width.value}
            withContext={contexts > 1}
            chosen={all[chosen]}
          />
        ))}
      </svg>
    </div>
  );
}

interface LaneProps {
  readonly hrefOfEntry: (entry: TimelineEntry) => string;
  readonly lane: Lane;
  readonly width: number;
  readonly withContext: boolean;
  readonly chosen: Drawn | undefined;
}

function LaneGroup({ lane, hrefOfEntry, width, withContext, chosen }: LaneProps) {
  const { source } = usePage();
  const { clusters } = source.model.value;
  const context = clusters[lane.cluster]?.context ?? lane.cluster;
  return (
    <g class="lane">
      <line class="edge" x1="0" x2={width} y1={lane.y} y2={lane.y} />
      <text x="4" y={lane.y + 16}>
        {withContext ? `${context}: ${lane.namespace}` : lane.namespace}
      </text>
      {lane.lines.map(({ from, to }) => (
        <path
          key={`${from.entry.about} ${from.entry.at} ${to.entry.about} ${to.entry.at}`}
          class="cause"
          d={`M${from.x} ${from.y + 5}V${to.y}H${to.x}`}
        />
      ))}
      {lane.drawn.map((drawn) => (
        <a
          key={`${drawn.entry.type} ${drawn.entry.about} ${drawn.entry.at}`}
          class={`entry ${drawn.entry.type} ${toneOfEntry(drawn.entry)}`}
          href={hrefOfEntry(drawn.entry)}
          tabIndex={drawn === chosen ? 0 : -1}
          aria-label={`${local(drawn.entry.at)}: ${drawn.entry.text}`}
        >
          <title>{`${local(drawn.entry.at)}\n${drawn.entry.text}`}</title>
          <EntryShape drawn={drawn} />
        </a>
      ))}
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group of an SVG takes no focus. */}
      <g aria-hidden="true">
        {lane.drawn
          .filter(({ label }) => label !== "")
          .map(({ entry, x, y, width: length, label, isBefore }) => (
            <text
              key={`${entry.type} ${entry.about} ${entry.at}`}
              class={isBefore ? "label before" : "label"}
              x={isBefore ? x - 8 : x + length + (entry.result === "failed" ? 14 : 8)}
              y={y + 4}
            >
              {label}
            </text>
          ))}
      </g>
    </g>
  );
}

function EntryShape({ drawn: { entry, x, y, width } }: { readonly drawn: Drawn }) {
  switch (entry.type) {
    case "edit":
      return <path d={`M${x - 5} ${y - 5}h10l-5 10z`} />;
    case "leader":
      return <path d={`M${x} ${y - 5}l5 5l-5 5l-5-5z`} />;
    case "halt":
      return <path d={`M${x - 2} ${y - 5}h4l3 3v4l-3 3h-4l-3-3v-4z`} />;
    case "hold":
      return <rect x={x} y={y - 2.5} width={width} height="5" rx="2.5" />;
    case "rollout":
      return (
        <>
          <rect x={x} y={y - 4} width={width} height="8" rx="2" />
          {entry.result === "failed" && <path class="cross" d={`M${x + width + 3} ${y - 3}l6 6m0-6l-6 6`} />}
        </>
      );
  }
}

function toneOfEntry({ type, result }: TimelineEntry): Tone {
  if (type === "halt" || result === "failed") return "red";
  if (type === "hold") return "yellow";
  if (type === "rollout") return result === "complete" ? "green" : "cyan";
  return "dim";
}

const entryTypes = {
  edit: "edit",
  rollout: "rollout",
  hold: "hold or window",
  halt: "halt",
  leader: "new leader",
} as const satisfies Record<TimelineEntry["type"], string>;

/** Draws the shape that an entry has in the picture. */
function EntryMark({ type, result }: Pick<TimelineEntry, "type" | "result">) {
  const entry: TimelineEntry = {
    type,
    result,
    at: 0,
    endedAt: 0,
    cluster: "",
    namespace: "",
    about: "",
    details: [],
    by: null,
    text: "",
  };
  const isBar = type === "rollout" || type === "hold";
  return (
    <svg class={`entry ${type} ${toneOfEntry(entry)}`} viewBox="0 0 20 14" width="20" height="14" aria-hidden="true">
      <EntryShape
        drawn={{
          entry,
          x: isBar ? 1 : 9,
          y: 7,
          width: result === "failed" ? 8 : isBar ? 17 : 0,
          label: "",
          isBefore: false,
        }}
      />
    </svg>
  );
}

/** Explains the shapes of the picture. */
function Legend() {
  const examples = [
    ["edit", null],
    ["rollout", "complete"],
    ["rollout", "running"],
    ["rollout", "failed"],
    ["halt", null],
    ["hold", null],
    ["leader", null],
  ] as const;
  return (
    <p class="legend" aria-hidden="true">
      {examples.map(([type, result]) => (
        <span key={`${type} ${result}`}>
          <EntryMark type={type} result={result} />
          {entryTypes[type]}
          {type === "rollout" && ` ${result}`}
        </span>
      ))}
    </p>
  );
}

/** Lists the entries, the newest first. */
function EntryList({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  const hrefOfEntry = useHrefOfEntry();
  const newest = entries.toSorted((a, b) => b.at - a.at);
  return (
    <section class="part">
      <h2>Entries</h2>
      <Rows
        label="Entries"
        items={newest}
        keyOf={(entry) => `${entry.type} ${entry.cluster} ${entry.namespace} ${entry.about} ${entry.at}`}
      >
        {(entry) => (
          <article class="entry-line">
            <EntryMark type={entry.type} result={entry.result} />
            <span class="unseen">{entryTypes[entry.type]}</span>
            <time dateTime={new Date(entry.at).toISOString()}>{local(entry.at)}</time>
            <a href={hrefOfEntry(entry)}>
              {entry.namespace !== "" && <span class="namespace">{entry.namespace}/</span>}
              {entry.about}
            </a>
            <span class="message" title={entry.text}>
              {entry.text}
            </span>
          </article>
        )}
      </Rows>
    </section>
  );
}

/** Returns a function that returns the address of what an entry is about: an object, a workload, or else its namespace. */
function useHrefOfEntry(): (entry: TimelineEntry) => string {
  const { source } = usePage();
  const ids = useComputed(
    () =>
      new Map(
        Object.values(source.model.value.workloads).map((row) => [
          `${row.cluster} ${row.namespace} ${nameOf(row)}`,
          row.id,
        ]),
      ),
  );
  return ({ cluster, namespace, about }) => {
    const object = about.toLowerCase();
    if (/^(configmap|secret)\//.test(object)) return hrefOf({ view: "object", cluster, namespace, object });
    const id = ids.value.get(`${cluster} ${namespace} ${object}`);
    return id === undefined ? hrefOf({ view: "workloads", cluster, namespace }) : hrefOf({ view: "workload", id });
  };
}

function tickText(at: number, span: number): string {
  const time = new Date(at);
  return span > 36 * hour
    ? time.toLocaleDateString(undefined, { month: "short", day: "numeric" })
    : time.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
}

/** Saves the entries as a file. */
function exportEntries(entries: readonly TimelineEntry[]): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify({ entries }, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "wave-timeline.json";
  link.click();
  URL.revokeObjectURL(url);
}
