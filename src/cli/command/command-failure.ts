import { MalformedWorkload } from "../../domain/model/workload.ts";
import { apiFailureOf, isClusterFailure } from "../../kube/api/api-failure.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { UsageError } from "../flags/flag-types.ts";
import { type ExitCode, errorLine, exitCodes, type Terminal } from "./command.ts";
import { commandErrorTexts } from "./error-texts.ts";

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

/** Returns the exit code of an error, or of its cause. */
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
