// This folder reads workloads and what they depend on, with the permissions of the user. It decides nothing.
import { readWithBorrowedTemplate, withBorrowedTemplate } from "../../../cache/workloads/workload-reads.ts";
import type { DirectiveContext } from "../../../domain/compatibility/directives.ts";
import { standardForm } from "../../../domain/model/kind-row.ts";
import { toWorkload, toWorkloadIfValid } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { type Workload, workloadKey } from "../../../domain/model/workload-shape.ts";
import { formatList } from "../../../domain/syntax/wording.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { objectNotFound } from "../../command/command-failure.ts";
import type { WorkloadArgument } from "../../command/workload-argument.ts";
import { type ListScope, listAll } from "../requests.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";

/** A workload object in its standard form, and the parsed workload. */
export interface FoundWorkload {
  readonly object: WorkloadObject;
  readonly workload: Workload;
}

/** The workloads that could be listed, and one line for each failed read. */
export interface FoundWorkloads {
  readonly found: readonly FoundWorkload[];
  readonly failures: readonly string[];
}

/** Reads one workload by name, with the pod template of its source. Throws a CommandFailure if it does not exist, otherwise what {@link ApiClient.request} throws. */
export async function readWorkload(
  { client, source }: Pick<Cluster, "client" | "source">,
  { kind, resource, name }: WorkloadArgument,
  namespace: string,
): Promise<WorkloadObject> {
  const found = await readWithBorrowedTemplate(client, resource, { namespace, name }, {});
  if (found === undefined) throw objectNotFound(kind, name, namespace, source);
  return found;
}

/** Reports whether a workload opted in itself or by its Namespace, or has an invalid opt-in annotation. */
function mayBeRolled({ optIn }: Workload): boolean {
  return optIn.state !== "out";
}

/**
 * Lists the workloads that opted in themselves or by their Namespace, and those whose opt-in annotation is invalid; with `isWanted` other
 * ones. Throws what
 * {@link ApiClient.stream} throws if no kind can be listed.
 */
export async function listWorkloads(
  client: ApiClient,
  scope: ListScope,
  directiveContext: DirectiveContext & Pick<KnownPolicy, "kinds">,
  isWanted: (workload: Workload) => boolean = mayBeRolled,
): Promise<FoundWorkloads> {
  const failures: unknown[] = [];
  const unread: string[] = [];
  const lists = directiveContext.kinds.map(async (row) => {
    try {
      return await listAll<KubeObject & WorkloadObject, FoundWorkload>(client, row, scope, (object) => {
        const workload = toWorkloadIfValid(row, object, directiveContext);
        if (workload === undefined || !isWanted(workload)) return undefined;
        if (workload.templateSource === undefined) return { object: standardForm(row, object), workload };
        return withBorrowedTemplate(client, row, object).then(
          (whole) => ({ object: standardForm(row, whole), workload: toWorkload(row, whole, directiveContext) }),
          (error: unknown) => {
            unread.push(`${workloadKey(workload)}: ${errorText(error)}`);
            return undefined;
          },
        );
      });
    } catch (error) {
      failures.push(error);
      return [];
    }
  });
  const found = (await Promise.all(lists)).flat();
  if (failures.length === directiveContext.kinds.length) throw failures[0];
  const withoutTemplate =
    unread.length === 0
      ? []
      : [`Cannot read the pod templates that workloads reference: ${formatList(unread, 2, (one) => one)}`];
  return { found, failures: [...failures.map(errorText), ...withoutTemplate] };
}
