import { pendingPodsSelector } from "../../../domain/model/scheduling-hold.ts";
import { formatCount, formatList } from "../../../domain/syntax/wording.ts";
import { metadataOnlyList } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import { listAll } from "../../cluster/requests/list-all.ts";
import { inScope, tryRead } from "../../cluster/requests/read-result.ts";
import { wavesWatching } from "../../cluster/running-wave/running-wave.ts";
import type { DoctorContext } from "../context/doctor-context.ts";
import { type Finding, notRead, problem } from "../context/finding.ts";

/** How many Pods a finding names. */
const mostNamed = 3;

/** Finds Pods that wait for a Wave that does not run: no scheduler has their scheduler name. One finding for each namespace. */
export async function strandedPods({ cluster, namespace, waves }: DoctorContext): Promise<readonly Finding[]> {
  if ("unread" in waves) return [];
  const scope = { namespace, fieldSelector: pendingPodsSelector, accept: metadataOnlyList };
  const pods = await tryRead(`list pods ${inScope(namespace)}`, () =>
    listAll(cluster.client, resources.pods, scope, ({ metadata }) => metadata),
  );
  if ("unread" in pods) return [notRead(null, "Pods that wait for Wave were not searched for", pods)];
  const byNamespace = Map.groupBy(pods.read, ({ namespace: where = "" }) => where);
  return [...byNamespace].flatMap(([where, stranded]) => {
    if (wavesWatching(waves, where).length > 0) return [];
    const count = stranded.length === 1 ? "1 Pod stays" : `${formatCount(stranded.length)} Pods stay`;
    const names = formatList(stranded, mostNamed, ({ name }) => name);
    const what = `${count} pending: ${names}. A scheduling hold of Wave applies, and no Wave runs that lifts the hold.`;
    const ref = { kind: "Namespace", namespace: null, name: where };
    return [problem(ref, what, `wave release --scheduling-holds -n ${where}`)];
  });
}
