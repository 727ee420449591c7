import type { Terminal } from "../command/command.ts";
import { outputLine } from "../command/messages.ts";
import { liveLines } from "../output/live-lines.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { tableLines } from "../output/table.ts";
import type { WaitRequest } from "./wait-for-workload.ts";

/** Receives what one of the workloads waits for, or that it is done. */
type ReportProgress = (name: string, ...report: Parameters<WaitRequest["report"]>) => void;

/** Returns a function that reports progress: on a terminal as one line for each workload, which is replaced, otherwise as a line for each change. */
export function reportTo(terminal: Terminal, names: readonly string[]): ReportProgress {
  const { live, write } = terminal;
  if (live === undefined) return (name, line) => write(outputLine(`${name}: ${line}`));
  const draw = liveLines(live);
  const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
  const last = new Map<string, Parameters<WaitRequest["report"]>>();
  return (name, line, progress) => {
    last.set(name, [line, progress]);
    const rows = names.map((each) => last.get(each) ?? (["", "open"] as const));
    draw(
      tableLines(
        names.map((each, index) => [each, rows[index]?.[0] ?? ""]),
        2,
        (text, row, column) => (column === 0 ? text : paint(rows[row]?.[1] === "done" ? "green" : "cyan", text)),
      ),
    );
  };
}
