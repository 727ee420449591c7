import { printable } from "../../lib/printable.ts";
import { paintOf, wrappedBehind } from "../output/table.ts";

/** Writes the steps of the demo for people. */
export interface Narrator {
  readonly paragraph: (...lines: readonly string[]) => void;
  readonly step: (number: number, title: string) => void;
  /** Writes the kubectl command of a step, with a comment if the command alone is not clear. */
  readonly command: (command: string, comment?: string) => void;
  /** Writes lines that explain. */
  readonly why: (...lines: readonly string[]) => void;
  /** Writes something that was observed in the cluster. */
  readonly seen: (what: string, is: string, note?: string) => void;
}

/** Returns a narrator. Use colours for terminals only: they are ANSI escapes. */
export function createNarrator(write: (text: string) => void, color: boolean): Narrator {
  const styled = paintOf(color);
  const line = (text: string) => write(`${text}\n`);
  return {
    paragraph: (...lines) => {
      for (const each of lines) for (const part of laidOut("", each)) line(part);
      line("");
    },
    step: (number, title) => line(styled("bold", `${number}. ${title}`)),
    command: (command, comment) =>
      line(
        `   ${styled("cyan", printable(`$ ${command}`))}${comment === undefined ? "" : styled("dim", printable(`   # ${comment}`))}`,
      ),
    why: (...lines) => {
      for (const each of lines)
        for (const part of laidOut("   ", each)) line(`   ${styled("dim", part.slice("   ".length))}`);
    },
    seen: (what, is, note = "") => {
      const head = `   ${what.padEnd(11)} `;
      const besides = note === "" || head.length + is.length + 3 + note.length > width ? "" : `   ${note}`;
      const parts = laidOut(head, is).map(
        (part) => part.slice(0, head.length) + styled("green", part.slice(head.length)),
      );
      for (const [index, part] of parts.entries()) line(index === parts.length - 1 ? part + printable(besides) : part);
      if (note !== "" && besides === "") for (const part of laidOut(" ".repeat(head.length), note)) line(part);
    },
  };
}

/** The columns of a line. */
const width = 80;

/** Returns a text as lines behind a head. Lines that begin with a blank are commands to copy, and stay whole. */
function laidOut(head: string, text: string): readonly string[] {
  return wrappedBehind(head, printable(text), text.startsWith(" ") ? undefined : width);
}

/** Returns `a → b`, or `a (unchanged)`. */
export function describeChange(before: string, after: string): string {
  return before === after ? `${after} (unchanged)` : `${before} → ${after}`;
}

/** Returns a short hash for people: the tag and 8 of 64 digits. */
export function shortHash(hash: string): string {
  return hash.slice(0, hash.indexOf(":") + 9);
}

/** The numbers of signals in exit codes. Windows has no SIGPIPE, so `os.constants` there has no number for it. */
const numbers = { SIGHUP: 1, SIGINT: 2, SIGPIPE: 13, SIGTERM: 15 } as const;

/** The error of a demo that a signal ended. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  /** 128 plus the number of the signal, as in a shell. */
  readonly exitCode: number;

  constructor(signal: keyof typeof numbers) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + numbers[signal];
  }
}

/**
 * Returns a signal that aborts with {@link Interrupted} on the first SIGINT, SIGTERM or SIGHUP, and if the reader of standard output is
 * gone, so that the demo still removes what it created. A second signal ends the process at once.
 */
export function untilInterrupted(): Disposable & { readonly signal: AbortSignal } {
  const stop = new AbortController();
  const onSignal = (name: "SIGINT" | "SIGTERM" | "SIGHUP") => {
    const interrupted = new Interrupted(name);
    if (stop.signal.aborted) process.exit(interrupted.exitCode);
    stop.abort(interrupted);
  };
  const onOutputError = () => stop.abort(new Interrupted("SIGPIPE"));
  const others = process.stdout.listeners("error");
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, onSignal);
  process.stdout.removeAllListeners("error").on("error", onOutputError); // the others end the process at once
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
      process.stdout.off("error", onOutputError);
      for (const other of others) process.stdout.on("error", (...args) => Reflect.apply(other, process.stdout, args));
    },
  };
}
