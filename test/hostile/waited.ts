import { existsSync, readFileSync } from "node:fs";

/**
 * How long the main thread of a process, or this thread, has waited for a processor since it began, in milliseconds: what a busy machine
 * adds to every time that is measured, and no attacker. 0 where the kernel does not tell.
 */
export function waitedMs(process: number | "thread-self"): number {
  const path = `/proc/${process}/schedstat`;
  if (!existsSync(path)) return 0;
  // Time on the processor, time in line for it (both in ns), and how often: https://docs.kernel.org/scheduler/sched-stats.html
  const [, inLine = "0"] = readFileSync(path, "utf8").split(" ");
  return Number(inLine) / 1e6;
}
