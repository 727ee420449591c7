// What every command is made of: terminal, arguments, help, exit codes, errors, the connection to a cluster. This folder knows no command.
import { readFileSync } from "node:fs";
import { MalformedWorkload } from "../../domain/model/workload.ts";
import { quoted } from "../../domain/syntax/names.ts";
import { apiFailureOf, isClusterFailure } from "../../kube/api/api-failure.ts";
import type { Resource } from "../../kube/api/resources.ts";
import { printable } from "../../lib/printable.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { UsageError } from "../flags/flag-types.ts";
import type { Environment, FlagTable } from "../flags/parse-flags.ts";
import type { LiveTerminal } from "../output/live-lines.ts";

/** A kind of object that a command accepts. */
export interface ArgumentKind<K extends string, R extends Resource = Resource> {
  readonly kind: K;
  readonly resource: R;
  /** The names of the kind in `kubectl api-resources`. */
  readonly names: readonly string[];
}

/** What a command receives from its process. */
export interface Terminal {
  readonly env: Environment;
  /** Undefined: the user has no home directory. */
  readonly homeDir: string | undefined;
  /** How a person called Wave: "kubectl wave" if kubectl runs Wave as its plugin. */
  readonly program: "wave" | "kubectl wave";
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly write: (text: string) => void;
  /** Writes to standard error: logs, warnings and errors. */
  readonly writeError: (text: string) => void;
  readonly outputToTerminal: boolean;
  /** The columns of that terminal; undefined if standard output is no terminal, or the width is unknown. */
  readonly outputColumns: number | undefined;
  readonly errorsToTerminal: boolean;
  /** The terminal of standard output, if lines that were written can be replaced; undefined for a pipe, in CI, and without a cursor. */
  readonly live: LiveTerminal | undefined;
}

/** One command. Resolves with the exit code. Rejects with a UsageError for wrong arguments; any other error is a bug. */
export interface Command {
  (args: readonly string[], terminal: Terminal): Promise<number>;
  /** The arguments that shells complete; undefined: the command has none. */
  readonly accepts?: AcceptedArguments;
}

/** The flags of a command and the kinds of objects in its arguments, from which shells complete. */
interface AcceptedArguments {
  readonly flags: FlagTable;
  /** The kinds of the objects in its arguments; undefined: it has no such arguments. */
  readonly kinds?: readonly ArgumentKind<string>[] | undefined;
}

/** Returns a command that does the same as `command`, and whose arguments shells complete. */
export function accepting(command: Command, accepts: AcceptedArguments): Command {
  return Object.assign((args: readonly string[], terminal: Terminal) => command(args, terminal), { accepts });
}

/** The exit codes of all commands. A command that a signal ends has code 128 plus the number of the signal, as in a shell. */
export const exitCodes = {
  done: 0,
  /** The answer is no: something would roll, a wait did not succeed, or the object was not found. */
  no: 1,
  /** The caller made a mistake: flags, arguments, a file, or the kubeconfig. */
  usage: 2,
  /** Incomplete: the cluster was unreachable, timed out, or denied access to something that the answer depends on. */
  incomplete: 3,
  /** A bug in Wave (EX_SOFTWARE of sysexits.h). */
  bug: 70,
} as const;

/** A code of {@link exitCodes}. A command that a signal ends has another code. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the exit code of a command that answers a question: a "no" also of an incomplete answer, `done` only of a complete one. */
export function exitCodeFor({ no = false, complete }: { readonly no?: boolean; readonly complete: boolean }): ExitCode {
  if (no) return exitCodes.no;
  return complete ? exitCodes.done : exitCodes.incomplete;
}

/** The meanings of the exit codes that all cluster commands share, for `--help-all`. */
export const sharedExitCodes: Readonly<Record<number, string>> = {
  [exitCodes.usage]: "Usage error: invalid flags or arguments, a bad file, or a bad kubeconfig.",
  [exitCodes.incomplete]: "Incomplete: the cluster was unreachable, timed out, or denied access.",
};

/** The meaning of every exit code, for `wave help exit-codes`. */
export const exitCodeMeanings: Readonly<Record<string, string>> = {
  [exitCodes.done]: "Success.",
  [exitCodes.no]: "The answer is no: something would roll, a wait did not succeed, or the object was not found.",
  ...sharedExitCodes,
  [exitCodes.bug]: "Bug in Wave. Please report the output.",
  "128+N": "Ended by signal N. Example: 130 after Ctrl-C.",
};

/** Returns a line on standard output. The text may contain names that others chose. */
export function outputLine(text: string): string {
  return `${printable(text)}\n`;
}

/** Returns the line on standard error with which a command fails: `error: STATE. NEXT STEP.` */
export function errorLine(message: string): string {
  return `error: ${printable(message)}\n`;
}

/** Returns a line on standard error about something that makes the output incomplete or surprising. */
export function warningLine(message: string): string {
  return `warning: ${printable(message)}\n`;
}

/** Returns a line on standard error that explains the output. The output is complete without it. */
export function noteLine(message: string): string {
  return `note: ${printable(message)}\n`;
}

/** Set by the bundler. */
declare const bundledVersion: string | undefined;

/** Returns the version of Wave: from the bundle, or from package.json if the sources run. */
export function version(): string {
  if (typeof bundledVersion === "string") return bundledVersion;
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(text);
  return version;
}

/** A command cannot give the answer or do the work: one line for a person, no stack. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  /** `no`, or `incomplete` if something that the answer depends on could not be read. */
  readonly code: ExitCode;

  constructor(message: string, code: typeof exitCodes.no | typeof exitCodes.incomplete = exitCodes.no) {
    super(message);
    this.code = code;
  }
}

/** The cluster of a command, for messages. */
export interface ClusterSource {
  /** Where the configuration was found: "context kind-dev of /home/a/.kube/config". */
  readonly source: string;
  readonly server: URL;
}

/** Returns a line about the cluster with its name: the wrong cluster is the most common mistake. */
export function appendCluster(line: string, { source, server }: ClusterSource): string {
  return `${line} (${source}, ${server.origin}${server.pathname.replace(/\/$/, "")})`;
}

/** A failure as a command reports it: one line, and the exit code. */
export interface FailureReport {
  readonly line: string;
  readonly code: ExitCode;
}

/** Returns how a command reports an error; undefined for an unexpected error, which is a bug. */
export function reportFailure(error: unknown, cluster: ClusterSource | undefined): FailureReport | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  const line = errorText(error);
  const isFromCluster = isClusterFailure(error);
  return { line: isFromCluster && cluster !== undefined ? appendCluster(line, cluster) : line, code };
}

function codeOf(error: unknown): ExitCode | undefined {
  if (error instanceof CommandFailure) return error.code;
  if (error instanceof MalformedWorkload) return exitCodes.no;
  switch (apiFailureOf(error)?.type) {
    case undefined:
      return error instanceof Error ? codeOf(error.cause) : undefined;
    case "misconfigured":
    // Invalid labels, for example.
    case "badRequest":
      return exitCodes.usage;
    default:
      return exitCodes.incomplete;
  }
}

/** Returns the failure for an object that does not exist; `namespace` is undefined for cluster-scoped objects. */
export function objectNotFound(
  kind: string,
  name: string,
  namespace: string | undefined,
  source: string,
): CommandFailure {
  const shown = kind.toLowerCase();
  return new CommandFailure(
    namespace === undefined
      ? commandErrorTexts.notFoundInCluster(shown, name, source)
      : commandErrorTexts.notFound(shown, name, namespace, source),
  );
}

/** Runs a program and resolves with its exit code. Reports wrong arguments with one line and the exit code for them. */
export async function orUsageError(terminal: Terminal, program: () => Promise<number>): Promise<number> {
  try {
    return await program();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.writeError(errorLine(error.message));
    return exitCodes.usage;
  }
}

/** The errors about the arguments of commands, one line each. */
export const argumentErrorTexts = {
  unknownCommand: (word: string) => `unknown command ${quoted(word)}; wave help lists all commands`,
  misspeltCommand: (word: string, meant: string) => `unknown command ${quoted(word)}; did you mean ${meant}?`,
  noWorkload: "no workload named; use KIND/NAME, for example deployment/web",
  noObject: "no object named; use KIND/NAME, for example deployment/web",
  noName: (kind: string, example: string) => `no ${kind} named; add a name, for example ${example}/web`,
  tooManyWorkloads: (word: string) => `too many workloads; this command takes one, remove ${quoted(word)}`,
  twoSlashes: (word: string, kind: string) =>
    `${quoted(word)} has two slashes; use one KIND/NAME for each object, for example ${kind}/web`,
  noKind: (word: string, name: string) => `${quoted(word)} has no kind; use KIND/NAME, for example deployment/${name}`,
  notAKind: (word: string) => `${quoted(word)} is not a kind; use KIND/NAME, for example deployment/web`,
  invalidName: (name: string, kind: string) =>
    `${quoted(name)} is not a valid ${kind} name; use lower-case letters, digits, dashes and dots`,
  unsupportedKind: (kind: string, accepted: string) =>
    `unsupported kind ${quoted(kind)}; this command accepts ${accepted}`,
  unsupportedWorkloadKind: (kind: string, accepted: string) =>
    `unsupported kind ${quoted(kind)}; this command accepts ${accepted}. Write a kind of --workload-kinds with its group, for example rollouts.argoproj.io/web`,
  twoNamespaces: (namespace: string, name: string) =>
    `-n ${namespace} contradicts namespace/${name}; remove one of the two`,
  surplusWithCluster: (word: string) => `unexpected argument ${quoted(word)}; --cluster is about all objects`,
  noAllNamespaces: (command: string, example: string) =>
    `wave ${command} does not support -A; name each object, for example: ${example}`,
  clusterForAll: (command: string) =>
    `wave ${command} does not support -A; for every rollout run wave ${command} --cluster, or name each object`,
  surplusOfList: (word: string) =>
    `unexpected argument ${quoted(word)}; wave list takes only flags. For one workload run: wave explain KIND/NAME`,
  surplusOfUi: (word: string) => `unexpected argument ${quoted(word)}; wave ui takes only flags, such as -n NAMESPACE`,
  contextOfFleet: (flag: string) => `--${flag} and --contexts exclude each other; use one of the two`,
  watchForProgram: (output: string) => `-w has no ${output} output; use -o table or wide`,
  surplusNamespace: (word: string) => `unexpected argument ${quoted(word)}; use -n NAMESPACE or -A`,
  noScope: "no namespace given; use -n NAMESPACE, or -A for all namespaces",
  surplusFile: (word: string) => `unexpected argument ${quoted(word)}; use -f ${word}`,
  noRevisionNumber: (word: string) =>
    `${quoted(word)} needs --revision NUMBER; wave history ${word} lists the revisions. For manifests, use -f FILE`,
  revisionOrFile: "--revision and -f exclude each other; use one of the two",
  revisionMarkdown: "--revision has no Markdown output; use -o table, json or yaml",
  valuesOfRevision: "--show-values needs --revision NUMBER",
  uiOfDemo: "--ui runs on its own cluster; remove --keep, --kubeconfig and --context. For your cluster run: wave ui",
  surplusOfDemo: (word: string) => `unexpected argument ${quoted(word)}; see wave demo --help`,
  noShell: (shells: string) => `no shell given; use ${shells}`,
  unknownShell: (word: string, shells: string) => `${quoted(word)} is not a supported shell; use ${shells}`,
  noDryRun:
    "wave migrate only previews; add --dry-run. To migrate, start Wave with --compatibility: wave help migration",
} as const;

/** The errors of commands that have read the cluster, one line each. */
export const commandErrorTexts = {
  notFound: (kind: string, name: string, namespace: string, source: string) =>
    `${kind} "${name}" not found in namespace "${namespace}" (${source}). Check -n and --context.`,
  notFoundInCluster: (kind: string, name: string, source: string) =>
    `${kind} "${name}" not found (${source}). Check --context.`,
  noPage: "The page of wave ui is not built. Run: bin/wave ui.",
  portInUse: (port: number, error: string) => `Cannot listen on 127.0.0.1:${port}: ${error}. Choose another --port.`,
  kindNotRolled: (kind: string) =>
    `Wave does not roll ${kind} in this cluster. Either --workload-kinds of "wave run" does not name this kind, or the cluster does not serve it.`,
  noRevisions: (kind: string) =>
    `Kubernetes keeps no revisions of ${kind}. Use a Deployment, StatefulSet, DaemonSet or Rollout.`,
  noRevision: (object: string, revision: string, known: string) =>
    `${object} has no revision ${revision}. Known revisions: ${known}.`,
  revisionNotPinned: (object: string, revision: string) =>
    `revision ${revision} of ${object} is not pinned, so its configuration is not stored. See wave history ${object}.`,
  partlyWritten: (written: string) => `Already written: ${written}. Run the command again for the other objects.`,
  noReader: (object: string) => `no workload that opted in reads ${object}. Check -n and --context.`,
  readersUnknown: (object: string, cause: string) =>
    `incomplete: other workloads may read ${object} and may have failed. Cause: ${cause}.`,
  wavesUnknown: (cause: string) =>
    `cannot find the Namespace of Wave: ${cause}. Pass it with -n, for example: -n wave-system.`,
  noWave:
    "no Wave found: no Deployment with the label app.kubernetes.io/name=wave runs it. Pass the Namespace of Wave with -n.",
  notPassed: (object: string, hold: string, message: string) =>
    `${object} not requested: wave roll does not end the hold ${quoted(hold)}. ${message}`,
  hashUnknown: (cause: string) =>
    `the hash to approve is unknown. ${cause} Take its first 8 digits from the Event RolloutHeld and write them to the annotation wave.pusher.com/approved.`,
} as const;
