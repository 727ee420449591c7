import { standardForm } from "../../../domain/model/kind-row.ts";
import { toWorkload, type WorkloadObject } from "../../../domain/model/workload.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { CommandFailure } from "../../command/command-failure.ts";
import { commandErrorTexts } from "../../command/error-texts.ts";
import type { WorkloadArgument } from "../../command/workload-argument.ts";
import { gapsOf, readNamespaces } from "../read/namespaces.ts";
import { type FoundWorkload, readWorkload } from "../read/workloads.ts";
import { withAvailableKind } from "../running-wave/available-kinds.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { keepsRevisions, readRevisions, type StoredRevision } from "./read-revisions.ts";

/** A workload with its revisions. */
export interface WorkloadRevisions extends FoundWorkload {
  readonly object: WorkloadObject;
  /** The oldest first. */
  readonly revisions: readonly StoredRevision[];
  /** Other reads that failed and may matter, one line each. */
  readonly gaps: readonly string[];
}

/**
 * Reads a workload and its revisions. Throws a CommandFailure if the workload does not exist or its kind has no revisions, and the error of
 * the API server if it or its revisions cannot be read.
 */
export async function readWorkloadRevisions(
  cluster: Cluster,
  argument: WorkloadArgument,
  namespace: string,
  policy: KnownPolicy,
): Promise<WorkloadRevisions> {
  const target = withAvailableKind(argument, policy);
  const { resource } = target;
  if (!keepsRevisions(resource)) throw new CommandFailure(commandErrorTexts.noRevisions(target.kind));
  const [stored, namespaces] = await Promise.all([
    readWorkload(cluster, target, namespace),
    readNamespaces(cluster.client, namespace, policy.compatibility),
  ]);
  const object = standardForm(resource, stored);
  const workload = toWorkload(resource, stored, { ...policy, namespacePolicyOf: namespaces.of });
  return {
    object,
    workload,
    revisions: await readRevisions(cluster.client, resource, object, workload),
    gaps: gapsOf(namespaces),
  };
}
