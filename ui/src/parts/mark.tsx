import { isHalt, meaningOf, type Tone, toneOf } from "../states.ts";

/** The shape of each state in a square of 16 units: shapes differ, so that no reader needs the colors. */
export const shapes: Readonly<Record<string, string>> = {
  current: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM5 8l2 2.2l4-4.4",
  rolling: "M8 1.5a6.5 6.5 0 1 1-6.5 6.5M8 1.5l-2.6-1.3M8 1.5l-2 2.2",
  due: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM8 4.5v3.7l2.4 1.6",
  held: "M5 2.5v11M11 2.5v11",
  waiting: "M3 1.5h10M3 14.5h10M4 1.5c0 4 4 4 4 6.5s-4 2.5-4 6.5M12 1.5c0 4-4 4-4 6.5s4 2.5 4 6.5",
  stuck: "M8 1.5l7 12.5h-14zM8 6v4M8 11.7v.5",
  failed: "M3 3l10 10M13 3l-10 10",
  behind: "M13 2.5l-6 5.5l6 5.5zM3 2.5v11",
  rolledBack: "M2.5 6h7a4 4 0 1 1 0 8h-3M5.5 3l-3 3l3 3",
  overLimit: "M8 14v-9M4 8.5l4-4l4 4M2.5 1.5h11",
  unknown: "M5 5.5a3 3 0 1 1 4.4 2.6c-1 .5-1.4 1-1.4 2.2M8 13v.6",
  unproven: "M8 1.5l6.5 6.5l-6.5 6.5l-6.5-6.5zM8 5v3.5M8 10.6v.5",
  ignored: "M3 8h10",
  halted: "M5 1.5h6l3.5 3.5v6l-3.5 3.5h-6l-3.5-3.5v-6zM6 5.5v5M10 5.5v5",
};

/** The mark of a state the page does not know. */
const neutral = "M8 6.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 0 0 0-3z";

/** Draws the mark of a state. Its name stands beside it. */
export function Mark({ state, tone = toneOf(state) }: { readonly state: string; readonly tone?: Tone }) {
  return (
    <svg class={`mark ${tone}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={shapes[state] ?? neutral} />
    </svg>
  );
}

/** Shows the name of a state behind its mark. `because` is the reason of a hold. */
export function StateName({ state, because, tone }: StateNameProps) {
  const isHold = state === "held" && because !== null;
  return (
    <span class={`state ${tone ?? toneOf(state)}`} title={meaningOf(state)}>
      <Mark state={isHold && isHalt(because) ? "halted" : state} tone={tone ?? toneOf(state)} />
      {isHold ? `${state}: ${because}` : state}
    </span>
  );
}

interface StateNameProps {
  readonly state: string;
  readonly because: string | null;
  readonly tone?: Tone;
}
