import { dirname, resolve } from "node:path";
import { type Clock, systemClock } from "../lib/clock.ts";
import { bearer, type Credential, type Credentials } from "./credentials.ts";
import { ClusterConfigError } from "./errors.ts";

/** A user's `exec` of a kubeconfig (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/). */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  /** Shown where the command is not found. */
  readonly installHint: string | undefined;
  /** The cluster as the plugin is told of it; undefined unless it asks by `provideClusterInfo`. */
  readonly cluster: Readonly<Record<string, unknown>> | undefined;
  /** The kubeconfig that names it: relative commands are relative to its folder. */
  readonly file: string;
}

/** What a plugin is run with. */
export interface ExecSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person can be asked on standard input. */
  readonly interactive: boolean;
  readonly clock?: Clock;
}

interface ExecStatus {
  readonly token?: unknown;
  readonly clientCertificateData?: unknown;
  readonly clientKeyData?: unknown;
  readonly expirationTimestamp?: unknown;
}

/** A plugin that waits for a person to log in gets this long, any other a tenth of it. */
const timeLimitMs = 300_000;
const mostBytes = 1 << 20;

/**
 * Credentials that a program prints. They are kept until they expire, or until the server answers 401; however many
 * requests wait for them the program runs once.
 */
export function execCredentials(
  plugin: ExecPlugin,
  { env, interactive, clock = systemClock }: ExecSurroundings,
): Credentials {
  let credential: Credential | undefined;
  let expiresAt = Infinity;
  let running: Promise<Credential> | undefined;

  const run = async (): Promise<Credential> => {
    const output = await runPlugin(plugin, { env, interactive });
    const status = readStatus(plugin, output);
    expiresAt = typeof status.expirationTimestamp === "string" ? Date.parse(status.expirationTimestamp) : Infinity;
    credential = toCredential(plugin, status);
    return credential;
  };
  const runOnce = (): Promise<Credential> => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    current: async () => (credential !== undefined && clock.wall() < expiresAt ? credential : runOnce()),
    renew: async (rejected) => (credential !== undefined && credential !== rejected ? credential : runOnce()),
  };
}

async function runPlugin(plugin: ExecPlugin, { env, interactive }: ExecSurroundings): Promise<string> {
  const { command, args, apiVersion, cluster, interactiveMode } = plugin;
  if (interactiveMode === "Always" && !interactive) {
    throw failed(plugin, "it wants to ask a person (interactiveMode: Always) and standard input is no terminal");
  }
  const asks = interactive && interactiveMode !== "Never";
  const info = { apiVersion, kind: "ExecCredential", spec: { interactive: asks, ...(cluster && { cluster }) } };
  const { spawn } = await import("node:child_process");
  // As kubectl does: a path is relative to the kubeconfig, a bare name is looked up on $PATH.
  const program = /[\\/]/.test(command) ? resolve(dirname(plugin.file), command) : command;
  const child = spawn(program, [...args], {
    env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    stdio: [asks ? "inherit" : "ignore", "pipe", asks ? "inherit" : "pipe"],
    timeout: asks ? timeLimitMs : timeLimitMs / 10,
    killSignal: "SIGKILL",
  });
  const output: Buffer[] = [];
  let length = 0;
  let complaint = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > mostBytes) child.kill("SIGKILL");
    else output.push(chunk);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    if (complaint.length < 1000) complaint += chunk.toString();
  });
  return new Promise((resolveOutput, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") return reject(failed(plugin, error.message));
      const hint = plugin.installHint === undefined ? "" : `; ${oneLine(plugin.installHint)}`;
      reject(failed(plugin, `the command was not found${hint}`));
    });
    child.once("close", (code, signal) => {
      if (code === 0) return resolveOutput(Buffer.concat(output).toString());
      const how =
        code === null
          ? `it was ended by ${signal} (it may take at most ${timeLimitMs / 10_000} s)`
          : `exit code ${code}`;
      reject(failed(plugin, `${how}${complaint.trim() && `: ${oneLine(complaint)}`}`));
    });
  });
}

function readStatus(plugin: ExecPlugin, output: string): ExecStatus {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    // The parser's own message would quote the credential.
    throw failed(plugin, "what it printed is not JSON");
  }
  const { kind, apiVersion, status } = Object(answer) as Record<string, unknown>;
  if (kind !== "ExecCredential") throw failed(plugin, "what it printed is no ExecCredential");
  if (apiVersion !== plugin.apiVersion) {
    throw failed(plugin, `it speaks ${String(apiVersion)} where the kubeconfig says ${plugin.apiVersion}`);
  }
  return Object(status) as ExecStatus;
}

function toCredential(plugin: ExecPlugin, status: ExecStatus): Credential {
  const { token, clientCertificateData: cert, clientKeyData: key } = status;
  const hasCertificate = typeof cert === "string" && typeof key === "string" && cert !== "" && key !== "";
  const hasToken = typeof token === "string" && token !== "";
  if (!hasCertificate && !hasToken)
    throw failed(plugin, "what it printed has neither a token nor a client certificate");
  return {
    headers: hasToken ? bearer(token) : {},
    certificate: hasCertificate ? { cert, key } : undefined,
  };
}

function failed({ command, file }: ExecPlugin, why: string): ClusterConfigError {
  return new ClusterConfigError(`credential plugin ${command} (users[].user.exec in ${file}) failed: ${why}`);
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ").slice(0, 300);
}
