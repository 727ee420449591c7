import { boundedMemo } from "../syntax/bounded-memo.ts";
import { type Expression, parseExpression } from "./regular-expression.ts";

/** A regular expression that must match a whole name, or the reason why it is not supported. */
export type NamePattern =
  | {
      readonly state: "read";
      readonly matches: (name: string, effort?: Effort) => boolean;
      /** Whether the name of some object could match. */
      readonly canMatch: boolean;
      /** The number of steps of the compiled expression. */
      readonly size: number;
    }
  | { readonly state: "invalid"; readonly reason: string };

/** A counter of matching work. One unit takes a few nanoseconds. */
export interface Effort {
  spent: number;
}

/** Limit of the steps of one expression. Matching takes time in proportion to steps times characters of the name. */
const maxSteps = 256;

/**
 * Parses a regular expression over names of objects, in the part of the RE2 syntax that can match names. Matching takes time in
 * proportion to the length of the name times the size of the expression, whatever a tenant writes: it never backtracks.
 */
export const readNamePattern = boundedMemo(256, (source: string): NamePattern => {
  try {
    const steps: Step[] = [];
    emit(parseExpression(source), steps);
    steps.push({ do: "match" });
    return {
      state: "read",
      matches: (name, effort = { spent: 0 }) => matches(steps, name, effort),
      canMatch: canMatch(steps),
      size: steps.length,
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { state: "invalid", reason: error.message };
  }
});

type Step =
  | { readonly do: "character"; readonly characters: ReadonlySet<string> }
  | { do: "either"; next: number; other: number }
  | { readonly do: "begin" | "end" | "match" };

function emit(expression: Expression, steps: Step[]): void {
  if (steps.length >= maxSteps) throw new SyntaxError("too large");
  switch (expression.is) {
    case "characters":
      steps.push({ do: "character", characters: expression.characters });
      return;
    case "begin":
    case "end":
      steps.push({ do: expression.is });
      return;
    case "sequence":
      for (const part of expression.of) emit(part, steps);
      return;
    case "choice":
      emitChoice(expression.of, steps);
      return;
    case "repeat":
      emitRepeat(expression, steps);
  }
}

function emitChoice(of: readonly Expression[], steps: Step[]): void {
  const ends: { next: number; other: number }[] = [];
  for (const [index, option] of of.entries()) {
    if (index === of.length - 1) {
      emit(option, steps);
      continue;
    }
    const split = branch(steps);
    emit(option, steps);
    ends.push(branch(steps));
    split.other = steps.length;
  }
  for (const end of ends) end.next = end.other = steps.length;
}

function emitRepeat({ of, least, most }: Extract<Expression, { is: "repeat" }>, steps: Step[]): void {
  for (let count = 0; count < least; count++) {
    const before = steps.length;
    emit(of, steps);
    if (steps.length === before) break; // An empty expression stays empty. Nested repetitions would otherwise take too long.
  }
  if (most === undefined) {
    const from = steps.length;
    const split = branch(steps);
    emit(of, steps);
    const back = branch(steps);
    back.next = back.other = from;
    split.other = steps.length;
    return;
  }
  const splits: { other: number }[] = [];
  for (let count = least; count < most; count++) {
    if (steps.length >= maxSteps) throw new SyntaxError("too large");
    splits.push(branch(steps));
    emit(of, steps);
  }
  for (const split of splits) split.other = steps.length;
}

/** Adds a step that continues with the next step and with a second one, which the caller sets later. */
function branch(steps: Step[]): { next: number; other: number } {
  const step = { do: "either" as const, next: steps.length + 1, other: steps.length + 1 };
  steps.push(step);
  return step;
}

/**
 * The states of a reader of names: which state each kind of character leads to from a state, and whether a name may end there. Each part of a
 * name between dots begins and ends with a letter or digit.
 */
const nameStates = [
  { start: true, dash: undefined, dot: undefined, mayEnd: false },
  { start: false, dash: 2, dot: 3, mayEnd: true },
  { start: false, dash: 2, dot: undefined, mayEnd: false },
  { start: false, dash: undefined, dot: undefined, mayEnd: false },
] as const;
const afterLetter = 1;

/** Reports whether a name of an object can match, such as none with a slash. Follows the steps for all names at once. */
function canMatch(steps: readonly Step[]): boolean {
  const seen = new Set<number>();
  const left = [0];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const [index, read] = [Math.floor(id / 8), id % 4];
    const hasEnded = id % 8 >= 4;
    const [step, state] = [steps[index], nameStates[read]];
    if (step === undefined || state === undefined) continue;
    const to = (next: number, nextState: number | undefined, ends = hasEnded) => {
      if (nextState !== undefined) left.push(next * 8 + nextState + (ends ? 4 : 0));
    };
    if (step.do === "match" && state.mayEnd) return true;
    if (step.do === "either") for (const next of [step.next, step.other]) to(next, read);
    if ((step.do === "begin" && state.start) || (step.do === "end" && state.mayEnd))
      to(index + 1, read, hasEnded || step.do === "end");
    if (step.do !== "character" || hasEnded) continue;
    if (step.characters.has("-")) to(index + 1, state.dash);
    if (step.characters.has(".")) to(index + 1, state.dot);
    if ([...step.characters].some((each) => /^[a-z0-9]$/.test(each))) to(index + 1, afterLetter);
  }
  return false;
}

/** Matches by the algorithm of Ken Thompson: follows all paths at once, and visits each step at most once for each character. */
function matches(steps: readonly Step[], name: string, effort: Effort): boolean {
  let current = reached(steps, [0], 0, name.length, effort);
  for (let at = 0; at < name.length && current.length > 0; at++) {
    const character = name.charAt(at);
    const next: number[] = [];
    for (const index of current) {
      const step = steps[index];
      if (step?.do === "character" && step.characters.has(character)) next.push(index + 1);
    }
    current = reached(steps, next, at + 1, name.length, effort);
  }
  return current.some((index) => steps[index]?.do === "match");
}

/** Returns the steps that need a character or have matched, and that are reachable without reading a character. */
function reached(
  steps: readonly Step[],
  from: readonly number[],
  at: number,
  length: number,
  effort: Effort,
): readonly number[] {
  const seen = new Uint8Array(steps.length);
  const left = [...from];
  const waiting: number[] = [];
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    const step = steps[index];
    if (step === undefined || seen[index] === 1) continue;
    seen[index] = 1;
    effort.spent++;
    if (step.do === "character" || step.do === "match") waiting.push(index);
    else if (step.do === "either") left.push(step.next, step.other);
    else if ((step.do === "begin" && at === 0) || (step.do === "end" && at === length)) left.push(index + 1);
  }
  return waiting;
}
