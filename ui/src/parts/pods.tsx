import type { PodSquare, WorkloadRow } from "../../../src/cli/ui/model.ts";

const size = 14;
const gap = 4;
const inARow = 20;

const phases = {
  starting: "starting",
  ready: "ready",
  notReady: "not ready",
  failed: "failed",
  terminating: "terminating",
} as const satisfies Record<PodSquare["phase"], string>;

/** Draws the Pods of a workload as small squares: filled if they run with the new content, outlined if with the old one. */
export function Pods({ pods, podList }: Pick<WorkloadRow, "pods" | "podList">) {
  if (podList.length === 0) return pods === null ? null : <span class="quiet">{pods.total} Pods</span>;
  const rows = Math.ceil(podList.length / inARow);
  const width = Math.min(inARow, podList.length) * (size + gap) - gap;
  const more = (pods?.total ?? 0) - podList.length;
  return (
    <span class="pods">
      <svg
        role="img"
        aria-label={describePods(podList)}
        viewBox={`-1 -1 ${width + 2} ${rows * (size + gap) - gap + 2}`}
        width={width + 2}
        height={rows * (size + gap) - gap + 2}
      >
        {podList.map((pod, index) => (
          <Square
            key={pod.name}
            pod={pod}
            x={(index % inARow) * (size + gap)}
            y={Math.floor(index / inARow) * (size + gap)}
          />
        ))}
      </svg>
      {more > 0 && <span class="quiet">and {more} more</span>}
    </span>
  );
}

function Square({ pod, x, y }: { readonly pod: PodSquare; readonly x: number; readonly y: number }) {
  const { name, content, phase } = pod;
  return (
    <g class={`pod ${content} ${phase}`} transform={`translate(${x} ${y})`}>
      <title>{`${name}: ${content} content, ${phases[phase]}`}</title>
      <rect x="1" y="1" width={size - 2} height={size - 2} rx="2" />
      {phase === "failed" && <path d="M4 4l6 6M10 4l-6 6" />}
      {phase === "starting" && <circle cx={size / 2} cy={size / 2} r="2" />}
      {phase === "notReady" && <path d="M7 3.5v4M7 9.7v.6" />}
      {phase === "terminating" && <path d="M4 7h6" />}
    </g>
  );
}

/** Returns what the squares show, in words: `2 of 3 Pods with new content; 1 failed`. */
export function describePods(podList: readonly PodSquare[]): string {
  const withNew = podList.filter(({ content }) => content === "new").length;
  const byPhase = Map.groupBy(podList, ({ phase }) => phase);
  byPhase.delete("ready");
  const others = Array.from(byPhase, ([phase, { length }]) => `${length} ${phases[phase]}`);
  return [`${withNew} of ${podList.length} Pods with new content`, ...others].join("; ");
}

/** Explains the squares. */
export function PodLegend() {
  const examples: readonly (readonly [string, PodSquare])[] = [
    ["new content", { name: "example", content: "new", phase: "ready" }],
    ["old content", { name: "example", content: "old", phase: "ready" }],
    ["unknown content", { name: "example", content: "unknown", phase: "ready" }],
    ["starting", { name: "example", content: "new", phase: "starting" }],
    ["not ready", { name: "example", content: "new", phase: "notReady" }],
    ["failed", { name: "example", content: "new", phase: "failed" }],
    ["terminating", { name: "example", content: "old", phase: "terminating" }],
  ];
  return (
    <p class="legend" aria-hidden="true">
      <span>Pods:</span>
      {examples.map(([text, pod]) => (
        <span key={text}>
          <svg viewBox={`0 0 ${size} ${size}`} width={size} height={size} aria-hidden="true">
            <Square pod={pod} x={0} y={0} />
          </svg>
          {text}
        </span>
      ))}
    </p>
  );
}
