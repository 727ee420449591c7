import { readFileSync } from "node:fs";
import { afterAll } from "vitest";
import { startedControlPlanes } from "../control-plane/control-plane.ts";

declare module "vitest" {
  export interface TaskMeta {
    /** The cost of a file: seconds of processor time, of its worker and of the processes that it started, and starts of control planes. */
    readonly cost?: { readonly seconds: number; readonly controlPlanes: number };
  }
}

const before = processorSeconds();

// The first hook that is registered runs last: the processes of the file have ended.
// biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern.
afterAll(({}, { file }) => {
  Object.assign(file.meta, {
    cost: { seconds: processorSeconds() - before, controlPlanes: startedControlPlanes() },
  });
});

/** The processor time of this process and of its ended children, in seconds. Without /proc it is that of this process. */
function processorSeconds(): number {
  try {
    // After the name in brackets, the fields are state, …: utime, stime, cutime and cstime are the fields 14 to 17 of proc(5), in 1/100 s.
    const [, fields = ""] = readFileSync("/proc/self/stat", "utf8").split(/\) (?=[^)]*$)/);
    const times = fields.split(" ").slice(11, 15);
    return times.reduce((sum, time) => sum + Number(time), 0) / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
