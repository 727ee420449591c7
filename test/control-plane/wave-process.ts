import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";

/** The command that users run. */
export const wave = join(import.meta.dirname, "../../bin/wave");

/** A `bin/wave run` in its own process. */
export interface WaveProcess {
  readonly process: ChildProcess;
  /** Its output so far, with log lines as text. */
  readonly log: () => string;
  readonly metrics: () => Promise<string>;
  /** Returns the current response of /readyz. */
  readonly readyz: () => Promise<string>;
  /** The port of metrics and probes on 127.0.0.1. */
  readonly ports: { readonly metrics: number; readonly probes: number };
  /** Ends it and resolves to its exit code (null if a signal ended it). */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/**
 * Returns a port that was free a moment ago and that no other test gets. The port is below those that the kernel gives to
 * connections (Linux: from 32,768), and none of about 150 calls returns the port of an earlier one.
 */
export async function freePort(): Promise<number> {
  if (given.size > portsPerWorker / 2) given.clear();
  for (;;) {
    const port = 10_000 + 64 * Math.floor(Math.random() * portsPerWorker) + worker;
    if (port !== blocked && !given.has(port) && (await isFree(port))) {
      given.add(port);
      return port;
    }
  }
}

const given = new Set<number>();
const portsPerWorker = 312;

/** Vitest runs several files at the same time, each in its own process. Each process has its own range of ports. */
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 64;

/** The only port in the ranges that `fetch` refuses to connect to ("bad port" in its standard). */
const blocked = 10_080;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/**
 * Polls `probe` until its result is not undefined. An error is treated like undefined. Rejects after `timeoutMs`, which is not a
 * measurement but the time that a very busy machine needs.
 */
export async function until<T>(what: string, probe: () => Promise<T | undefined>, timeoutMs = 120_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const answer = await probe();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: last });
}

const logs: (() => string)[] = [];

/** Returns the ends of the logs of every Wave of this file, to explain a failed test. */
export function endsOfLogs(lines = 200): string {
  return logs
    .map((log, index) => {
      const all = log().trimEnd().split("\n");
      return [`the log of Wave ${index + 1} of this file, ${all.length} lines:`, ...all.slice(-lines)].join("\n");
    })
    .join("\n\n");
}

/** Flags for suites that do not test pacing: every change is rolled at once. */
const atOnce = ["--settle=0", "--max-concurrent-rollouts=0"];

/** How a Wave is started. */
interface StartOptions {
  /** Whether it has the default pace. */
  readonly paced?: boolean;
  /** The directory of a cgroup in which it runs. */
  readonly cgroup?: string | undefined;
}

/** Returns the start of a command that moves into a cgroup and becomes the rest of the command. */
function inCgroup(path: string): readonly string[] {
  return ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', path];
}

/**
 * Starts `bin/wave run` with `args` and resolves when it reports that it is ready. Due changes are rolled at once, unless `args`
 * set another pace or `paced` selects the default pace.
 */
export async function startWave(
  args: readonly string[],
  { paced = false, cgroup }: StartOptions = {},
): Promise<WaveProcess> {
  const [metricsPort, probePort] = [await freePort(), await freePort()];
  const endpoints = [
    `--metrics-bind-address=127.0.0.1:${metricsPort}`,
    `--health-probe-bind-address=127.0.0.1:${probePort}`,
  ];
  // Suites install Waves whose Pods run no process.
  const command = [wave, "run", "--beside-installed", ...endpoints, ...(paced ? [] : atOnce), ...args];
  const [program = "", ...rest] = cgroup === undefined ? command : [...inCgroup(cgroup), ...command];
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let text = "";
  const keep = (chunk: Buffer) => {
    text += chunk.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const log = () => text;
  logs.push(log);
  const ended = () => child.exitCode ?? child.signalCode;
  await until("wave to be ready, or to end", async () => {
    if (ended() !== null) return true;
    const response = await fetch(`http://127.0.0.1:${probePort}/readyz`);
    return response.ok ? true : undefined;
  }).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw new Error(`wave did not become ready: ${text}`, { cause: error });
  });
  if (ended() !== null) throw new Error(`wave exited with ${ended()}: ${text}`);
  return {
    process: child,
    log,
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    readyz: async () => (await fetch(`http://127.0.0.1:${probePort}/readyz`)).text(),
    ports: { metrics: metricsPort, probes: probePort },
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return exited;
    },
  };
}
