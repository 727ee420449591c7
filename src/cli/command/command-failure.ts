import { MalformedWorkload } from "../../domain/model/workload.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../../kube/api/errors.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** What a command was asked for cannot be had: one line for a person, no stack. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  /** The answer is no, or what it hangs on could not be looked at. */
  readonly code: ExitCode;

  constructor(message: string, code: typeof exitCodes.no | typeof exitCodes.cluster = exitCodes.no) {
    super(message);
    this.code = code;
  }
}

/** Which cluster is meant, for messages. */
export interface ClusterPlace {
  /** Where it was found: "context kind-dev of /home/a/.kube/config". */
  readonly source: string;
  readonly server: URL;
}

/** A line about the cluster with which one it was: people have many, and the wrong one is the commonest mistake. */
export function placed(line: string, { source, server }: ClusterPlace): string {
  return `${line} (${source}, ${server.origin})`;
}

/** What a person is told of a failure, in one line, and how the command ends. */
export interface ToldFailure {
  readonly line: string;
  readonly code: ExitCode;
}

/** How a command tells of an error; undefined for one that nobody expected, which is a bug. */
export function toldFailure(error: unknown, place: ClusterPlace | undefined): ToldFailure | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  const line = errorText(error);
  const aboutTheCluster = error instanceof ApiError || error instanceof ConnectionError;
  return { line: aboutTheCluster && place !== undefined ? placed(line, place) : line, code };
}

/** The exit code of an error, or of what caused it. */
function codeOf(error: unknown): ExitCode | undefined {
  if (error instanceof CommandFailure) return error.code;
  if (error instanceof MalformedWorkload) return exitCodes.no;
  if (error instanceof ClusterConfigError) return exitCodes.mistake;
  if (error instanceof ConnectionError) return exitCodes.cluster;
  // 400 is about what was asked, such as labels that cannot be read.
  if (error instanceof ApiError) return error.status === 400 ? exitCodes.mistake : exitCodes.cluster;
  return error instanceof Error ? codeOf(error.cause) : undefined;
}

/** An object that was asked for is not there; `namespace` is undefined for what has none. */
export function nothingThere(
  kind: string,
  name: string,
  namespace: string | undefined,
  source: string,
): CommandFailure {
  if (namespace === undefined)
    return new CommandFailure(
      `there is no ${kind} "${name}" in the cluster of ${source}; --context says where to look`,
    );
  const where = `in namespace "${namespace}" of the cluster of ${source}`;
  return new CommandFailure(`there is no ${kind} "${name}" ${where}; --namespace and --context say where to look`);
}
