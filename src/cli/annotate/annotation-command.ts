import type { WorkloadRow } from "../../domain/model/workload.ts";
import type { Resource } from "../../kube/api/resources.ts";
import { asFound } from "../cluster/available-kinds.ts";
import { type Cluster, clusterCommand, connectionFlags } from "../cluster/cluster-command.ts";
import { readRunningPolicy } from "../cluster/effective-flags.ts";
import type { Asked } from "../cluster/explanation.ts";
import { inheritedFlags, type KnownPolicy } from "../cluster/inherited-flags.ts";
import { readOne } from "../cluster/read-one.ts";
import type { Command } from "../command/command.ts";
import { exitCodes, sharedMeanings } from "../command/exit-codes.ts";
import { type CommandHelp, renderHelp } from "../command/help.ts";
import { type KindRow, parseArguments } from "../command/workload-argument.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { UsageError } from "../flags/usage-error.ts";
import type { Target } from "./annotate.ts";

/** What `hold`, `release`, `approve` and `resume` have of the cluster. */
export interface Annotator extends Cluster {
  readonly policy: KnownPolicy;
  /** All that the plan of a workload hangs on now; undefined where the object is none. */
  readonly read: (target: Target) => Promise<Asked | undefined>;
  readonly say: (line: string) => void;
}

interface Row<K extends string> {
  readonly name: string;
  readonly help: Omit<CommandHelp, "usage" | "exits">;
  /** The kinds that it takes. */
  readonly kinds: readonly KindRow<K>[];
  /** Does it to one object and says what happens next. */
  readonly run: (annotator: Annotator, target: Target) => Promise<void>;
}

const flags = { namespace: namespaceFlag, ...connectionFlags, ...inheritedFlags };
const exits = {
  0: "it is done, or nothing was to do",
  1: "there is no such object, or nothing that could be done with it",
  ...sharedMeanings,
};

/** A command that annotates objects, one after the other: it ends at the first that fails. */
export function annotationCommand<K extends string>({ name, help, kinds, run }: Row<K>): Command {
  return clusterCommand({
    name,
    flags,
    kinds,
    help: async () => renderHelp({ ...help, usage: `wave ${name} KIND/NAME… [flags]`, exits }, flags),
    read: (called) => {
      const { positionals, values, terminal } = called;
      const objects = parseArguments(positionals, kinds);
      const elsewhere = objects.find(({ kind }) => kind === "Namespace");
      if (elsewhere !== undefined && values.namespace !== undefined && values.namespace !== elsewhere.name)
        throw new UsageError(
          `--namespace ${values.namespace} and namespace/${elsewhere.name} are two namespaces; name one`,
        );
      return async (cluster) => {
        const namespace = elsewhere?.name ?? values.namespace ?? cluster.namespace;
        const policy = await readRunningPolicy(name, cluster, called, namespace);
        const annotator: Annotator = {
          ...cluster,
          policy,
          read: async (target) => {
            const { resource } = target;
            return isWorkloadRow(resource)
              ? readOne(cluster, { ...target, resource }, target.namespace, policy)
              : undefined;
          },
          say: (line) => terminal.write(`${line}\n`),
        };
        for (const object of objects) {
          const { resource } = object;
          const found = isWorkloadRow(resource) ? asFound({ ...object, resource }, policy) : object;
          await run(annotator, { ...found, namespace: values.namespace ?? cluster.namespace });
        }
        return exitCodes.done;
      };
    },
  });
}

function isWorkloadRow(resource: Resource): resource is WorkloadRow {
  return "id" in resource;
}

/** What every one of these commands notes. */
export const annotationNotes = [
  "It writes with your own permissions: who may patch the object may do this. kubectl annotate does the same.",
];
