import type { Pod } from "#kubernetes";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import { reportFailure } from "../command/command.ts";
import type { ChangeRow } from "./change-rows.ts";
import type { Change } from "./model.ts";

/** Returns a change with the exit code of the container that failed, which only its Pod has. Rejects only for a bug. */
export async function withExitCode({ change, failed }: ChangeRow, client: ApiClient): Promise<Change> {
  const { failure, namespace } = change;
  if (failure === null || failure.pod === null || failed === undefined) return change;
  const path = resourcePath(resources.pods, { namespace, name: failure.pod });
  try {
    const pod = await getIfExists<Pod>(client, { path });
    const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
    for (const { name, state, lastState } of [...initContainerStatuses, ...containerStatuses]) {
      const exitCode = (state?.terminated ?? lastState?.terminated)?.exitCode;
      if (exitCode !== undefined && (failure.container === null || name === failure.container))
        return { ...change, failure: { ...failure, container: name, exitCode } };
    }
  } catch (error) {
    if (reportFailure(error, undefined) === undefined) throw error;
  }
  return change;
}
