import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A running etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok (which simulates the kubelet). */
export interface ControlPlane {
  /** Path of a cluster administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Path of the API server's audit log: one line with a JSON object for each request, written in batches. */
  readonly auditLog: string;
  readonly stop: () => Promise<void>;
}

const programs = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];

/** The folder that `test/control-plane/install` fills. */
export function controlPlaneFolder(): string {
  return process.env.KUBEBUILDER_ASSETS ?? "/usr/local/kubebuilder/bin";
}

/** Undefined if the control plane is installed; otherwise one line with what is missing and what installs it. */
export function missingControlPlane(): string | undefined {
  const folder = controlPlaneFolder();
  const missing = programs.filter((program) => !existsSync(join(folder, program)));
  if (missing.length === 0) return undefined;
  return `${missing.join(", ")} missing in ${folder}; test/control-plane/install builds it (needs Go, about 5 minutes, once)`;
}

let started = 0;

/** Returns how many control planes this process has started. */
export function startedControlPlanes(): number {
  return started;
}

/**
 * Starts a control plane in a new temporary folder, in about 3 s. `stop` ends it and removes the folder. Without `workloads`
 * it is only the API server and etcd, so that no controller acts on Deployments. With "no-nodes" there is no kwok, for the node of
 * test/node. `apiServerFlags` are for the API server.
 */
export async function startControlPlane({
  workloads = true,
  apiServerFlags = [],
}: {
  readonly workloads?: boolean | "no-nodes";
  readonly apiServerFlags?: readonly string[];
} = {}): Promise<ControlPlane> {
  started++;
  const folder = mkdtempSync(join(tmpdir(), "wave-control-plane-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const flag = { true: ["--workloads"], false: [], "no-nodes": ["--workloads=no-nodes"] }[`${workloads}`];
  try {
    const stopUp = await startUp(join(import.meta.dirname, "up"), [folder, ...flag, ...apiServerFlags]);
    const stop = () => stopUp().finally(remove);
    return { kubeconfig: join(folder, "kubeconfig"), auditLog: join(folder, "audit.log"), stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Runs a script that serves until it is stopped. When the script has printed "ready:", resolves to the function that stops it.
 * @throws Error with the error output of the script if the script ends earlier.
 */
export async function startUp(script: string, args: readonly string[]): Promise<() => Promise<void>> {
  const up = spawn(script, args, { stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  let stopped = false;
  const exited = new Promise<void>((resolve) => {
    up.once("exit", () => {
      if (!stopped) process.stderr.write(`${script} ended by itself: ${errors}`);
      resolve();
    });
  });
  up.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const stop = () => {
    stopped = true;
    up.kill("SIGTERM");
    return exited;
  };
  for await (const line of createInterface({ input: up.stdout })) {
    if (line.startsWith("ready:")) return stop;
  }
  await stop();
  throw new Error(`${script} did not start: ${errors}`);
}

/** One request in the audit log of the API server. */
export interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  /** An object without `apiGroup` belongs to the core group. */
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly requestURI?: string;
  /** The body, only of patches of workloads. */
  readonly requestObject?: unknown;
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
  /** When the server had answered the request. */
  readonly stageTimestamp: string;
}

/** Returns the requests of all complete lines of the audit log so far. */
export function readAuditLog(path: string): AuditEvent[] {
  const text = readFileSync(path, "utf8");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEvent);
}
