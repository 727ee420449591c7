import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { freePort, wave } from "../test/control-plane/wave-process.ts";
import { memoryOf } from "./memory.ts";
import type { Plane } from "./plane.ts";

/** A controller to measure. */
export interface Controller {
  readonly name: "Wave" | "Wave in Go" | "Reloader";
  /** The path of its binary; undefined if the variable is not set. */
  readonly binary: string | undefined;
  /** The variable of the environment with this path, and what to build. */
  readonly variable: string;
  readonly source: string;
  /** As users start it. The port is for its metrics. */
  readonly args: (kubeconfig: string, port: number) => readonly string[];
  /** What lets it write as fast as it can. */
  readonly unpaced: readonly string[];
  /** The number of edits to measure: a slow controller needs too long for all of them. */
  readonly mostEdits: number;
  readonly mostFanOuts: number;
}

/** A process of a controller. */
export interface RunningController {
  /** Processor time of the process so far, in seconds. */
  readonly cpuSeconds: () => number;
  /** Memory of the process, in MiB. */
  readonly memory: () => { readonly resident: number; readonly peak: number };
  readonly kill: () => Promise<void>;
}

/** Build the peers yourself, from their own repositories, with `go build`. */
export const controllers: readonly Controller[] = [
  {
    name: "Wave",
    binary: wave,
    variable: "",
    source: "",
    args: (kubeconfig, port) => [
      ...["run", `--kubeconfig=${kubeconfig}`, "--log-level=warn"],
      ...[`--metrics-bind-address=127.0.0.1:${port}`, "--health-probe-bind-address=0"],
    ],
    unpaced: ["--update-rate=unlimited", "--settle=0", "--max-concurrent-rollouts=0"],
    mostEdits: Number.POSITIVE_INFINITY,
    mostFanOuts: Number.POSITIVE_INFINITY,
  },
  {
    name: "Wave in Go",
    binary: process.env.WAVE_IN_GO,
    variable: "WAVE_IN_GO",
    source: "./cmd/manager of wave-k8s/wave",
    args: (kubeconfig) => [`--kubeconfig=${kubeconfig}`],
    unpaced: ["--update-rate=100000", "--update-burst=100000"],
    mostEdits: Number.POSITIVE_INFINITY,
    mostFanOuts: Number.POSITIVE_INFINITY,
  },
  {
    name: "Reloader",
    binary: process.env.RELOADER,
    variable: "RELOADER",
    source: "stakater/Reloader",
    args: () => ["--auto-reload-all", "--log-level=error"],
    unpaced: [],
    mostEdits: 30,
    mostFanOuts: 1,
  },
];

/** Starts a controller against a server. Throws in the background if the controller ends by itself. */
export async function startController(
  { name, binary = "", args }: Controller,
  { jsonKubeconfig }: Plane,
  flags: readonly string[],
): Promise<RunningController> {
  const all = [...args(jsonKubeconfig, await freePort()), ...flags];
  const child = spawn(binary, all, { stdio: "ignore", env: { ...process.env, KUBECONFIG: jsonKubeconfig } });
  const exited = once(child, "exit");
  const onExit = (...[code, signal]: unknown[]) => {
    throw new Error(`${name} ended by itself, with ${code ?? signal}: ${[binary, ...all].join(" ")}`);
  };
  child.on("exit", onExit);
  const pid = child.pid ?? 0;
  return {
    cpuSeconds: () => cpuSecondsOf(pid),
    memory: () => {
      const { resident, peak } = memoryOf(pid);
      return { resident, peak };
    },
    kill: async () => {
      child.off("exit", onExit);
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The kernel counts in hundredths of a second (proc(5), `stat`, fields 14 and 15). */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
