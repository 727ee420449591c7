// `wave diff KIND/NAME --revision N`. This folder compares the pinned copies of one revision with the current configuration.
import type { ConfigMap } from "#kubernetes";
import type { Pins } from "../../../domain/pinning/pins.ts";
import { formatList } from "../../../domain/syntax/wording.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/get-if-exists.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { mapBounded } from "../../cluster/requests/map-bounded.ts";
import type { StoredRevision } from "../../cluster/revisions/read-revisions.ts";
import { readWorkloadRevisions } from "../../cluster/revisions/workload-revisions.ts";
import { readRunningPolicy } from "../../cluster/running-wave/effective-flags.ts";
import { withAllReferences } from "../../cluster/snapshot/workload-snapshot.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { appendCluster, CommandFailure } from "../../command/command-failure.ts";
import { commandErrorTexts } from "../../command/error-texts.ts";
import { exitCodeFor } from "../../command/exit-codes.ts";
import type { CommandCall } from "../../command/flag-command.ts";
import { warningLine } from "../../command/messages.ts";
import { parseWorkloadArgument } from "../../command/workload-argument.ts";
import type { inheritedFlags } from "../../flags/inherited-flags.ts";
import { hasColors, paintOf } from "../../output/paint.ts";
import { isForProgram, programText } from "../../output/program-text.ts";
import { type ReadConfigMap, revisionDifference } from "./revision-difference.ts";
import { renderRevisionDifference } from "./revision-output.ts";

/** The flags of a comparison with a revision, beside those of all commands. */
export interface RevisionRequest {
  readonly namespace: string | undefined;
  readonly revision: number;
  readonly output: string;
  readonly withValues: boolean;
}

/**
 * Compares the copies of a revision with the current configuration. The exit code is "no" if a key differs, and "incomplete" if a ConfigMap
 * could not be compared. Throws a UsageError for an invalid argument, before any request.
 */
export function diffRevision(
  call: CommandCall<typeof inheritedFlags>,
  { namespace: given, revision, output, withValues }: RevisionRequest,
): (cluster: Cluster) => Promise<number> {
  const argument = parseWorkloadArgument(call.positionals);
  return async (cluster) => {
    const { terminal } = call;
    const namespace = given ?? cluster.namespace;
    const policy = await readRunningPolicy(cluster, call, namespace);
    const found = await readWorkloadRevisions(cluster, argument, namespace, policy);
    const shown = `${argument.kind.toLowerCase()}/${argument.name}`;
    const pins = pinsOf(found.revisions, revision, shown);
    const currentPins = found.revisions.at(-1)?.pins;
    const names = new Set([...pins, ...(currentPins ?? [])].flat());
    const read = await readConfigMaps(cluster.client, namespace, [...names]);
    const workload = withAllReferences(found, policy);
    const difference = revisionDifference({ workload, revision, pins, currentPins, read, withValues });
    const gaps = [...found.gaps, ...difference.gaps];
    for (const gap of gaps) terminal.writeError(warningLine(appendCluster(gap, cluster)));
    const { differences, notes } = difference;
    const { kind, name } = found.workload;
    const object = { version: 1, workload: { kind, namespace, name }, revision, differences, notes };
    const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
    terminal.write(
      isForProgram(output) ? await programText(object, output) : renderRevisionDifference(difference, revision, paint),
    );
    return exitCodeFor({ no: differences.length > 0, complete: gaps.length === 0 });
  };
}

/** Returns the pins of a revision. Throws a CommandFailure if there is no such revision, or if it is not pinned. */
function pinsOf(revisions: readonly StoredRevision[], revision: number, shown: string): Pins {
  const found = revisions.find((each) => each.revision === revision);
  if (found === undefined) {
    const known = formatList(revisions.toReversed(), 5, (each) => String(each.revision));
    throw new CommandFailure(commandErrorTexts.noRevision(shown, String(revision), known));
  }
  if (found.pins === undefined) throw new CommandFailure(commandErrorTexts.revisionNotPinned(shown, String(revision)));
  return found.pins;
}

/** Reads ConfigMaps with the permissions of the user. Never rejects. */
async function readConfigMaps(
  client: ApiClient,
  namespace: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, ReadConfigMap>> {
  const read = async (name: string): Promise<readonly [string, ReadConfigMap]> => {
    try {
      const path = resourcePath(resources.configMaps, { namespace, name });
      const object = await getIfExists<ConfigMap>(client, { path });
      return [name, object === undefined ? { state: "absent" } : { state: "present", object }];
    } catch (error) {
      return [name, { state: "unread", why: errorText(error) }];
    }
  };
  return new Map(await mapBounded(names, read));
}
