import { dirname, resolve } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { keyPairProblem } from "./cluster-access.ts";
import {
  bearer,
  type Credential,
  type Credentials,
  configErrorTexts,
  controlCharacter,
  headerValue,
} from "./credentials.ts";

/** The `exec` of a user in a kubeconfig (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/). */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that are added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  /** Shown if the command is not found. */
  readonly installHint: string | undefined;
  /** Cluster information for the plugin; undefined unless `provideClusterInfo` is set. */
  readonly cluster: Readonly<Record<string, unknown>> | undefined;
  /** The kubeconfig with this plugin. A relative command is relative to its folder. */
  readonly file: string;
  /** Path in that file, such as "users[dev].user.exec". */
  readonly place: string;
}

/** Environment in which a plugin runs. */
export interface ExecContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reports whether a plugin can prompt on standard input. */
  readonly interactive: boolean;
  readonly clock: Clock;
}

/** Output of a plugin: a credential with a token, a client certificate or both. */
interface ExecCredential extends Credential {
  /** Milliseconds since the epoch. Infinity: until the server rejects it. */
  readonly expiresAt: number;
}

/** Time limit of a plugin in milliseconds: with a person who may have to log in, and without. */
export const execTimeLimitMs = { interactive: 300_000, alone: 30_000 } as const;

/** Maximum output of a plugin, in bytes. */
const maxOutputBytes = 1 << 20;

/**
 * Runs the plugin and parses its output.
 * @throws ClusterConfigError that names the plugin and its kubeconfig, with standard error or the install hint of the
 * kubeconfig. The message never contains standard output, which may be a credential.
 */
async function runExecPlugin(plugin: ExecPlugin, surroundings: ExecContext): Promise<ExecCredential> {
  const { command, file, place } = plugin;
  try {
    return readStatus(plugin, await run(plugin, surroundings));
  } catch (error) {
    throw new ClusterConfigError(configErrorTexts.pluginFailed(file, place, command, errorText(error)));
  }
}

async function run(plugin: ExecPlugin, { env, interactive, clock }: ExecContext): Promise<string> {
  const { command, args, apiVersion, cluster, interactiveMode } = plugin;
  if (interactiveMode === "Always" && !interactive) {
    throw new Error("it requires a terminal (interactiveMode: Always), and standard input is not a terminal");
  }
  const mayPrompt = interactive && interactiveMode !== "Never";
  const info = { apiVersion, kind: "ExecCredential", spec: { interactive: mayPrompt, cluster } };
  const { spawn } = await import("node:child_process");
  // Like kubectl: a path is relative to the kubeconfig; a bare name is searched on $PATH.
  const program = /[\\/]/.test(command) ? resolve(dirname(plugin.file), command) : command;
  const child = spawn(program, [...args], {
    env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    stdio: [mayPrompt ? "inherit" : "ignore", "pipe", mayPrompt ? "inherit" : "pipe"],
  });
  return new Promise((resolveOutput, reject) => {
    const giveUp = (reason: string) => {
      child.kill("SIGKILL");
      // A child process of the plugin may keep these open, and would keep this process alive.
      child.stdout?.destroy();
      child.stderr?.destroy();
      reject(new Error(reason));
    };
    const limitMs = mayPrompt ? execTimeLimitMs.interactive : execTimeLimitMs.alone;
    const cancelLimit = clock.timer(limitMs, () => giveUp(`no result within ${limitMs / 1000} s`));
    const output: Buffer[] = [];
    let length = 0;
    let complaint = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxOutputBytes) giveUp("output exceeds 1 MiB");
      else output.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (complaint.length < 1000) complaint += chunk.toString();
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      cancelLimit();
      const hint = plugin.installHint === undefined ? "" : `; ${oneLine(plugin.installHint)}`;
      reject(error.code === "ENOENT" ? new Error(`command not found${hint}`) : error);
    });
    child.once("close", (code, signal) => {
      cancelLimit();
      if (code === 0) return resolveOutput(Buffer.concat(output).toString());
      const how = signal === null ? `exit code ${code}` : `ended by ${signal}`;
      reject(new Error(`${how}${complaint.trim() && `: ${oneLine(complaint)}`}`));
    });
  });
}

function readStatus({ apiVersion }: ExecPlugin, output: string): ExecCredential {
  const credential = parse(output);
  if (credential.kind !== "ExecCredential") throw new Error("output is not an ExecCredential in JSON");
  if (credential.apiVersion !== apiVersion) {
    throw new Error(`output has apiVersion ${String(credential.apiVersion)}, expected ${apiVersion}`);
  }
  const status = fieldsOf(credential.status);
  const given = textOf(status.token);
  const token = given && headerValue(given);
  if (given !== undefined && token === undefined) throw new Error(`the token in the output ${controlCharacter}`);
  const cert = textOf(status.clientCertificateData);
  const key = textOf(status.clientKeyData);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error(`output has no ${cert === undefined ? "clientCertificateData" : "clientKeyData"}`);
  }
  const certificate = cert === undefined || key === undefined ? undefined : { cert, key };
  const problem = certificate && keyPairProblem(certificate.cert, certificate.key);
  if (problem !== undefined) throw new Error(`the client ${problem.part} in the output ${problem.what}`);
  if (token === undefined && certificate === undefined) {
    throw new Error("output has neither a token nor a client certificate");
  }
  const expiry = textOf(status.expirationTimestamp);
  const expiresAt = expiry === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiry);
  if (Number.isNaN(expiresAt)) throw new Error("expirationTimestamp in the output is not an RFC 3339 time");
  return { headers: token === undefined ? {} : bearer(token), certificate, expiresAt };
}

function parse(output: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(output));
  } catch {
    return {}; // the message of the parser would contain the credential
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

/**
 * Returns credentials that a program prints. They are valid until they expire, or until the server responds with 401. The
 * program runs once for all requests that wait for it. Unchanged output is the same credential.
 */
export function execCredentials(plugin: ExecPlugin, surroundings: ExecContext): Credentials {
  let credential: Credential | undefined;
  let expiresAt = Number.POSITIVE_INFINITY;
  let running: Promise<Credential> | undefined;

  const run = async (): Promise<Credential> => {
    const status = await runExecPlugin(plugin, surroundings);
    expiresAt = status.expiresAt;
    credential = toCredential(status, credential);
    return credential;
  };
  const runOnce = (): Promise<Credential> => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    current: async () => (credential !== undefined && surroundings.clock.wall() < expiresAt ? credential : runOnce()),
    renew: async (rejected) => {
      if (credential !== undefined && credential !== rejected) return credential;
      const fresh = await runOnce();
      return fresh === rejected ? undefined : fresh;
    },
  };
}

/** Returns the same object for an unchanged certificate, so that connections that use it are kept. */
function toCredential({ headers, certificate }: ExecCredential, before: Credential | undefined): Credential {
  const old = before?.certificate;
  const sameCertificate = old?.cert === certificate?.cert && old?.key === certificate?.key;
  if (before !== undefined && sameCertificate && before.headers.authorization === headers.authorization) return before;
  return { headers, certificate: sameCertificate ? old : certificate };
}
