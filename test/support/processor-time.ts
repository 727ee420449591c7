import { readFileSync } from "node:fs";

/**
 * Returns how long `work` used the processor of this thread, in milliseconds. This time is the same on a busy and on an idle machine, unlike
 * the time on a clock. The kernel measures in steps of some milliseconds, so `work` must take many steps or be measured many times.
 * For tests only.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

/**
 * Returns how long the main thread of a process, or this thread, has waited for a processor since it started, in milliseconds. A busy
 * machine adds this time to every measured time; an attacker does not. 0 if the kernel does not report it, and after the process ended.
 */
export function waitedMs(process: number | "thread-self"): number {
  // Time on the processor, time in the run queue (both in ns), and number of time slices: https://docs.kernel.org/scheduler/sched-stats.html
  const [, inLine = "0"] = read(`/proc/${process}/schedstat`).split(" ");
  return Number(inLine) / 1e6;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
