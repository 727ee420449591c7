// `wave hold --cluster` and `wave release --cluster`: write one annotation on the Namespace of each Wave.
import { readClusterHold } from "../../domain/policy/policy.ts";
import { holdCluster } from "../../domain/references/annotations.ts";
import { resources } from "../../kube/api/resources.ts";
import { annotate, namingWrites, readAnnotation, signedReason } from "../annotation/annotate.ts";
import { readRunningWaves } from "../cluster/running-wave/running-wave.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import {
  argumentErrorTexts,
  type Command,
  CommandFailure,
  commandErrorTexts,
  exitCodes,
  outputLine,
} from "../command/command.ts";
import type { NamedObject } from "../command/workload-argument.ts";
import { connectionFlags, namespaceFlag } from "../flags/connection-flags.ts";
import { bool, text } from "../flags/flag-types.ts";

/** What no hold can stop, because Kubernetes does it. The commands that hold something print one of these lines. */
export const holdLimits = {
  configMaps:
    'Without pinned configuration, mounted files and containers that start still read held changes. To pin ConfigMaps, set annotation wave.pusher.com/pin-config: "true".',
  secrets: "Mounted files and containers that start still read held changes. Wave does not pin Secrets.",
  undo: (namespace: string) =>
    `Without webhooks, kubectl rollout undo removes this hold. To keep it, hold the Namespace: wave hold namespace/${namespace}.`,
} as const;

const { group } = namespaceFlag;

const cluster = bool({
  group,
  default: false,
  help: "Every rollout of Wave, in all namespaces.",
});

/** The flag of `wave release` for the hold of every rollout. */
export const releaseClusterFlags = { cluster };

/** The flags of `wave hold` for the hold of every rollout. */
export const holdClusterFlags = {
  cluster,
  reason: text({
    group,
    placeholder: "TEXT",
    shownDefault: "none",
    help: "Reason for others to read, beside your name.",
  }),
};

const exits = { [exitCodes.done]: "Done.", [exitCodes.no]: "No Wave was found." };
const usualFlags = ["cluster", "namespace"];
const details = [
  "The command writes the annotation wave.pusher.com/hold-cluster on the Namespace of Wave. If several Waves run, it writes one on the Namespace of each. With -n it writes only the one on this Namespace.",
  "You need permission to list Deployments in all namespaces and to patch the Namespace. kubectl annotate has the same effect.",
];

/** Holds every rollout, until {@link releaseClusterCommand}. */
export const holdClusterCommand: Command = clusterCommand({
  name: "hold",
  flags: { ...holdClusterFlags, namespace: namespaceFlag, ...connectionFlags },
  help: {
    usage: "wave hold --cluster [--reason TEXT]",
    description: "Hold every rollout of Wave in the cluster, at once and until wave release --cluster.",
    examples: [['wave hold --cluster --reason "INC-12: bad image registry"', "stop every rollout"]],
    usualFlags: [...usualFlags, "reason"],
    details: [...details, "Rollouts that have started continue, because Kubernetes runs them."],
    exits,
  },
  surplus: argumentErrorTexts.surplusWithCluster,
  read: ({ values, terminal }) => {
    return async (cluster) => {
      const value = await signedReason(cluster, values.reason);
      await namingWrites(cluster, async (each) => {
        for (const wave of await namespacesOfWave(each, values.namespace)) {
          await annotate(each, namespaceObject(wave), { "hold-cluster": value || "true" });
          terminal.write(outputLine(`Every rollout of Wave in ${wave} is held (undo: wave release --cluster).`));
        }
      });
      terminal.write(`Rollouts that have started continue. ${holdLimits.configMaps}\n`);
      return exitCodes.done;
    };
  },
});

/** Removes the hold of every rollout. */
export const releaseClusterCommand: Command = clusterCommand({
  name: "release",
  flags: { ...releaseClusterFlags, namespace: namespaceFlag, ...connectionFlags },
  help: {
    usage: "wave release --cluster",
    description: "Remove the hold of every rollout. Wave then rolls each workload once if a rollout is still needed.",
    examples: [["wave release --cluster", "allow rollouts again"]],
    usualFlags,
    details,
    exits,
  },
  surplus: argumentErrorTexts.surplusWithCluster,
  read: ({ values, terminal }) => {
    return async (cluster) => {
      await namingWrites(cluster, async (each) => {
        for (const wave of await namespacesOfWave(each, values.namespace)) {
          const namespace = namespaceObject(wave);
          const reason = (await readAnnotation(each, namespace, "hold-cluster")) ?? "";
          if (readClusterHold({ [holdCluster]: reason }) !== undefined) {
            await annotate(each, namespace, { "hold-cluster": null });
            terminal.write(outputLine(`Rollouts of Wave in ${wave} are released (undo: wave hold --cluster).`));
          } else terminal.write(outputLine(`namespace/${wave} unchanged: it has no hold of every rollout`));
        }
      });
      terminal.write("Each workload that is due and has no other hold may roll. Follow the progress: wave list -A\n");
      return exitCodes.done;
    };
  },
});

/** Returns the Namespaces in which a Wave is installed, or the named one. A Wave that is scaled to zero may start again. */
async function namespacesOfWave({ client }: Cluster, named: string | undefined): Promise<readonly string[]> {
  if (named !== undefined) return [named];
  const waves = await readRunningWaves(client);
  if ("unread" in waves) throw new CommandFailure(commandErrorTexts.wavesUnknown(waves.unread), exitCodes.incomplete);
  if (waves.length === 0) throw new CommandFailure(commandErrorTexts.noWave);
  return [...new Set(waves.map(({ namespace }) => namespace))].sort();
}

function namespaceObject(name: string): NamedObject {
  return { kind: "Namespace", resource: resources.namespaces, name, namespace: name };
}
