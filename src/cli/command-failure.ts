import { ApiError, ClusterConfigError, ConnectionError } from "../kube/errors.ts";

/** What a command was asked for cannot be had: one line for a person, no stack, exit code 1. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
}

/** Whether an error is one line for a person: what was asked for is not there, or the cluster does not answer or refuses. */
export function isForPeople(error: unknown): boolean {
  return (
    error instanceof CommandFailure ||
    error instanceof ApiError ||
    error instanceof ConnectionError ||
    error instanceof ClusterConfigError
  );
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
