import { printable } from "../output/printable.ts";

/** Returns a line on standard output. The text may contain names that others chose. */
export function outputLine(text: string): string {
  return `${printable(text)}\n`;
}

/** Returns the line on standard error with which a command fails: `error: STATE. NEXT STEP.` */
export function errorLine(message: string): string {
  return `error: ${printable(message)}\n`;
}

/** Returns a line on standard error about something that makes the output incomplete or surprising. */
export function warningLine(message: string): string {
  return `warning: ${printable(message)}\n`;
}

/** Returns a line on standard error that explains the output. The output is complete without it. */
export function noteLine(message: string): string {
  return `note: ${printable(message)}\n`;
}
