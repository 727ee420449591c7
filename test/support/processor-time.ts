import { readFileSync } from "node:fs";

/**
 * How long `work` kept this thread's processor busy, in milliseconds: on a busy machine as long as on an idle one, which the time on a
 * clock is not. The kernel counts in steps of some milliseconds, so `work` has to take many of them, or to be measured many times.
 * Only tests import it.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

/**
 * How long the main thread of a process, or this thread, has waited for a processor since it began, in milliseconds: what a busy machine
 * adds to every time that is measured, and no attacker. 0 where the kernel does not tell, and when it has ended.
 */
export function waitedMs(process: number | "thread-self"): number {
  // Time on the processor, time in line for it (both in ns), and how often: https://docs.kernel.org/scheduler/sched-stats.html
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
