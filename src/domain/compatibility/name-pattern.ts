import { remembering } from "../syntax/bounded-memo.ts";
import { type Expression, parseExpression } from "./regular-expression.ts";

/** Whether a regular expression matches all of a name; or why it is none that is understood. */
export type NamePattern =
  | {
      readonly state: "read";
      readonly matches: (name: string, effort?: Effort) => boolean;
      /** How many steps it has. */
      readonly size: number;
    }
  | { readonly state: "refused"; readonly why: string };

/** Counts what matching takes: a few nanoseconds each. */
export interface Effort {
  spent: number;
}

/** How many steps an expression may have: a name of so many signs costs so many times as much. */
const mostSteps = 256;

/**
 * Reads a regular expression over names of objects, in the syntax of RE2 as far as it can match any. To match costs the
 * length of the name times the size of the expression and no more, whatever a tenant writes: nothing is tried again.
 */
export const readNamePattern = remembering(256, (source: string): NamePattern => {
  try {
    const steps: Step[] = [];
    emit(parseExpression(source), steps);
    steps.push({ do: "match" });
    return {
      state: "read",
      matches: (name, effort = { spent: 0 }) => matches(steps, name, effort),
      size: steps.length,
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { state: "refused", why: error.message };
  }
});

type Step =
  | { readonly do: "sign"; readonly signs: ReadonlySet<string> }
  | { do: "either"; next: number; other: number }
  | { readonly do: "begin" | "end" | "match" };

function emit(expression: Expression, steps: Step[]): void {
  if (steps.length >= mostSteps) throw new SyntaxError("it is too large");
  switch (expression.is) {
    case "signs":
      steps.push({ do: "sign", signs: expression.signs });
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
    if (steps.length === before) break; // nothing, however often: repetitions in repetitions would take for ever
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
    if (steps.length >= mostSteps) throw new SyntaxError("it is too large");
    splits.push(branch(steps));
    emit(of, steps);
  }
  for (const split of splits) split.other = steps.length;
}

/** A step that goes on with the one after it, and with another that is still to be said. */
function branch(steps: Step[]): { next: number; other: number } {
  const step = { do: "either" as const, next: steps.length + 1, other: steps.length + 1 };
  steps.push(step);
  return step;
}

/** Ken Thompson's: all ways through the steps at once, each step at most once for each sign. */
function matches(steps: readonly Step[], name: string, effort: Effort): boolean {
  let current = reached(steps, [0], 0, name.length, effort);
  for (let at = 0; at < name.length && current.length > 0; at++) {
    const sign = name.charAt(at);
    const next: number[] = [];
    for (const index of current) {
      const step = steps[index];
      if (step?.do === "sign" && step.signs.has(sign)) next.push(index + 1);
    }
    current = reached(steps, next, at + 1, name.length, effort);
  }
  return current.some((index) => steps[index]?.do === "match");
}

/** The steps that ask for a sign, or have matched, to which others lead without one. */
function reached(
  steps: readonly Step[],
  from: readonly number[],
  at: number,
  length: number,
  effort: Effort,
): readonly number[] {
  const seen = new Uint8Array(steps.length);
  const left = [...from];
  const asking: number[] = [];
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    const step = steps[index];
    if (step === undefined || seen[index] === 1) continue;
    seen[index] = 1;
    effort.spent++;
    if (step.do === "sign" || step.do === "match") asking.push(index);
    else if (step.do === "either") left.push(step.next, step.other);
    else if ((step.do === "begin" && at === 0) || (step.do === "end" && at === length)) left.push(index + 1);
  }
  return asking;
}
