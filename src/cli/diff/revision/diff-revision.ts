// `wave diff KIND/NAME --revision N`. This folder compares the pinned copies of one revision with the current configuration.
import type { ConfigMap } from "#kubernetes";
import type { Pins } from "../../../domain/pinning/pinned-lookup.ts";
import { formatCount, formatList } from "../../../domain/syntax/names.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/reads.ts";
import { printable } from "../../../lib/printable.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { mapBounded } from "../../cluster/requests.ts";
import { readRunningPolicy } from "../../cluster/running-wave/known-policy.ts";
import { withAllReferences } from "../../cluster/snapshot/workload-snapshot.ts";
import { readWorkloadRevisions, type StoredRevision } from "../../cluster/timeline/revisions.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { appendCluster, CommandFailure, commandErrorTexts, exitCodeFor, warningLine } from "../../command/command.ts";
import type { CommandCall } from "../../command/help.ts";
import { parseWorkloadArgument } from "../../command/workload-argument.ts";
import type { inheritedFlags } from "../../flags/run-flags.ts";
import { answerText, headedTable, joined, type Paint, paintFor } from "../../output/table.ts";
import {
  type KeyDifference,
  type ReadConfigMap,
  type RevisionDifference,
  revisionDifference,
} from "./revision-difference.ts";

/** The flags of a comparison with a revision, beside those of all commands. */
interface RevisionRequest {
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
    const forPeople = () => renderRevisionDifference(difference, revision, paintFor(terminal));
    terminal.write(await answerText(output, object, forPeople));
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

/** How many lines of one value are shown before and after. JSON has whole values. */
const shownLines = 50;

/** Returns the keys that differ as a table, followed by their values if they are requested. */
export function renderRevisionDifference(
  { differences, notes }: RevisionDifference,
  revision: number,
  paint: Paint,
): string {
  const rows = differences.map(({ configMap, key, how }) => [configMap, key, how]);
  const table = headedTable(["CONFIGMAP", "KEY", "CHANGE"], rows, paint);
  return joined([
    ...(differences.length === 0 ? [] : [...table, ""]),
    ...differences.flatMap((each) => valueLines(each, paint)),
    summary(differences.length, revision),
    ...notes.map((note) => `Note: ${printable(note)}`),
  ]);
}

function summary(count: number, revision: number): string {
  const keys = count === 0 ? "No key differs" : count === 1 ? "1 key differs" : `${formatCount(count)} keys differ`;
  return `${keys} between revision ${revision} and the current configuration.`;
}

/** Returns the lines of a value that differ; empty if values are not requested. */
function valueLines({ configMap, key, before, after }: KeyDifference, paint: Paint): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const { removed, added } = changedLines(before, after);
  return [
    paint("bold", printable(`${configMap}/${key}`)),
    ...shown(removed).map((line) => paint("red", printable(`- ${line}`))),
    ...shown(added).map((line) => paint("green", printable(`+ ${line}`))),
    "",
  ];
}

function shown(lines: readonly string[]): readonly string[] {
  const rest = lines.length - shownLines;
  return rest <= 0 ? lines : [...lines.slice(0, shownLines), `… ${formatCount(rest)} more lines`];
}

/** Returns the lines between the first and the last difference. Takes time in proportion to the texts. Null is no text. */
export function changedLines(
  before: string | null,
  after: string | null,
): { readonly removed: readonly string[]; readonly added: readonly string[] } {
  const [old, current] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, current.length);
  let start = 0;
  while (start < shorter && old[start] === current[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === current[current.length - 1 - end]) end++;
  return { removed: old.slice(start, old.length - end), added: current.slice(start, current.length - end) };
}

/** A final line feed begins one more line, so that a text with it differs from one without it. */
function linesOf(text: string | null): readonly string[] {
  return text === null ? [] : text.split("\n");
}
