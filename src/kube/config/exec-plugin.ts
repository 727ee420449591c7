import { dirname, resolve } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { ClusterConfigError } from "../api/errors.ts";

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
  /** Where in that file, such as "users[dev].user.exec". */
  readonly place: string;
}

/** What a plugin is run with. */
export interface ExecContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person can be asked on standard input. */
  readonly interactive: boolean;
  readonly clock: Clock;
}

/** What a plugin answers: a token, a client certificate or both. */
export interface ExecCredential {
  readonly token: string | undefined;
  /** In PEM. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  /** Milliseconds since the epoch; Infinity: until the server refuses it. */
  readonly expiresAt: number;
}

/** How long a plugin may take, in milliseconds: one that may be waiting for a person to log in, and any other. */
export const execTimeLimitMs = { interactive: 300_000, alone: 30_000 } as const;

/** More than this a plugin does not print, in bytes. */
const outputLimit = 1 << 20;

/**
 * Runs the plugin and reads what it prints.
 * @throws ClusterConfigError that names the plugin and its kubeconfig, with what it wrote to standard error, or with the
 * kubeconfig's hint how to install it; never with what it wrote to standard output, which may be a credential.
 */
export async function runExecPlugin(plugin: ExecPlugin, surroundings: ExecContext): Promise<ExecCredential> {
  const { command, file, place } = plugin;
  try {
    return readStatus(plugin, await run(plugin, surroundings));
  } catch (error) {
    throw new ClusterConfigError(`${file}: ${place}: the credential plugin ${command} failed: ${errorText(error)}`);
  }
}

async function run(plugin: ExecPlugin, { env, interactive, clock }: ExecContext): Promise<string> {
  const { command, args, apiVersion, cluster, interactiveMode } = plugin;
  if (interactiveMode === "Always" && !interactive) {
    throw new Error("it wants to ask a person (interactiveMode: Always) and standard input is no terminal");
  }
  const asks = interactive && interactiveMode !== "Never";
  const info = { apiVersion, kind: "ExecCredential", spec: { interactive: asks, cluster } };
  const { spawn } = await import("node:child_process");
  // As kubectl does: a path is relative to the kubeconfig, a bare name is looked up on $PATH.
  const program = /[\\/]/.test(command) ? resolve(dirname(plugin.file), command) : command;
  const child = spawn(program, [...args], {
    env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    stdio: [asks ? "inherit" : "ignore", "pipe", asks ? "inherit" : "pipe"],
  });
  return new Promise((resolveOutput, reject) => {
    const giveUp = (why: string) => {
      child.kill("SIGKILL");
      // What the plugin has started may hold these open, and this process with them.
      child.stdout?.destroy();
      child.stderr?.destroy();
      reject(new Error(why));
    };
    const limitMs = asks ? execTimeLimitMs.interactive : execTimeLimitMs.alone;
    const cancelLimit = clock.timer(limitMs, () => giveUp(`it took longer than ${limitMs / 1000} s`));
    const output: Buffer[] = [];
    let length = 0;
    let complaint = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > outputLimit) giveUp("it printed more than 1 MiB");
      else output.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (complaint.length < 1000) complaint += chunk.toString();
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      cancelLimit();
      const hint = plugin.installHint === undefined ? "" : `; ${oneLine(plugin.installHint)}`;
      reject(error.code === "ENOENT" ? new Error(`the command was not found${hint}`) : error);
    });
    child.once("close", (code, signal) => {
      cancelLimit();
      if (code === 0) return resolveOutput(Buffer.concat(output).toString());
      const how = signal === null ? `exit code ${code}` : `it was ended by ${signal}`;
      reject(new Error(`${how}${complaint.trim() && `: ${oneLine(complaint)}`}`));
    });
  });
}

function readStatus({ apiVersion }: ExecPlugin, output: string): ExecCredential {
  const answer = parse(output);
  if (answer.kind !== "ExecCredential") throw new Error("what it printed is no ExecCredential in JSON");
  if (answer.apiVersion !== apiVersion) {
    throw new Error(`it printed ${String(answer.apiVersion)} where the kubeconfig says ${apiVersion}`);
  }
  const status = fieldsOf(answer.status);
  const token = textOf(status.token);
  const cert = textOf(status.clientCertificateData);
  const key = textOf(status.clientKeyData);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error(`what it printed has no ${cert === undefined ? "clientCertificateData" : "clientKeyData"}`);
  }
  const certificate = cert === undefined || key === undefined ? undefined : { cert, key };
  if (token === undefined && certificate === undefined) {
    throw new Error("what it printed has neither a token nor a client certificate");
  }
  const expiry = textOf(status.expirationTimestamp);
  const expiresAt = expiry === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiry);
  if (Number.isNaN(expiresAt)) throw new Error("the expirationTimestamp that it printed is no time of RFC 3339");
  return { token, certificate, expiresAt };
}

function parse(output: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(output));
  } catch {
    return {}; // the parser's own message would quote the credential
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ").slice(0, 300);
}
