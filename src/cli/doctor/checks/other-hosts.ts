import type { Event, Lease } from "#kubernetes";
import { quoted } from "../../../domain/syntax/wording.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import { defaultLeaseDurationMs, holderOf } from "../../../manager/leader-election/lease.ts";
import { listAll } from "../../cluster/requests/list-all.ts";
import { inScope, tryRead } from "../../cluster/requests/read-result.ts";
import { describeWave } from "../../cluster/running-wave/effective-flags.ts";
import { age } from "../../output/age.ts";
import { type DoctorContext, deploymentRef } from "../context/doctor-context.ts";
import { type Finding, notRead, warning } from "../context/finding.ts";
import { hostNameOf, readWavePods } from "../context/wave-pods.ts";

/** How long ago an Event is that shows a Wave which still runs. A Wave that ended leaves its Events for an hour. */
const recentMs = 10 * 60_000;

/** A Wave that left a trace. */
interface Trace {
  /** Its host and a number of its process. */
  readonly identity: string;
  /** What it did, without its name. */
  readonly did: string;
}

/**
 * Finds Waves that are no Pod of a Deployment, for example on a laptop, by the holders of Leases and the reporters of Events. A Wave that
 * does neither is not visible.
 */
export async function otherHosts(doctorContext: DoctorContext): Promise<readonly Finding[]> {
  const { cluster, waves, watching, namespace, now } = doctorContext;
  const [wave] = watching;
  if ("unread" in waves || wave === undefined) return [];
  // A Pod in the network of its node has the host name of the node.
  if (waves.some(({ object }) => object.spec?.template.spec?.hostNetwork)) return [];
  const ref = deploymentRef(wave);
  const read = await tryRead(`list leases in all namespaces and events ${inScope(namespace)}`, () =>
    Promise.all([
      Promise.all(waves.map((each) => readWavePods(cluster.client, each))),
      listAll(cluster.client, resources.leases, {}, (lease: KubeObject & Lease) => holderIn(lease, doctorContext)),
      listAll(
        cluster.client,
        resources.events,
        { namespace, fieldSelector: "reportingComponent=wave" },
        (event: KubeObject & Event) => reporterOf(event, now),
      ),
    ]),
  );
  if ("unread" in read) return [notRead(ref, "Other Waves were searched only among Deployments", read)];
  const [pods, holders, reporters] = read.read;
  const unread = pods.find((each) => "unread" in each);
  if (unread !== undefined) return [notRead(ref, "Other Waves were searched only among Deployments", unread)];
  const own = new Set(pods.flatMap((each) => ("read" in each ? each.read.map(hostNameOf) : [])));
  // A Pod of an earlier ReplicaSet is gone, and its Events are not.
  const isOwn = (host: string) => own.has(host) || waves.some(({ name }) => host.startsWith(`${name}-`));
  const others = new Map([...reporters, ...holders].map(({ identity, did }) => [hostIn(identity), did]));
  return [...others]
    .filter(([host]) => !isOwn(host))
    .map(([host, did]) => {
      const what = `A Wave on host ${quoted(host)} ${did}, and is no Pod of ${describeWave(wave)}. Workloads may roll twice.`;
      return warning(ref, what, "Stop one of the two Waves, or run one of them with --observe.");
    });
}

/** Returns the holder of a Lease that a Wave with these names uses, if the holder renews it. */
function holderIn(lease: KubeObject & Lease, { watching, now }: DoctorContext): Trace | undefined {
  const { namespace = "", name } = lease.metadata;
  if (!watching.some(({ values }) => values["leader-election-id"] === name) || holderOf(lease) === "") return undefined;
  const { leaseDurationSeconds = defaultLeaseDurationMs / 1_000, renewTime = "" } = lease.spec ?? {};
  if (!(Math.abs(now - Date.parse(renewTime)) < 2_000 * leaseDurationSeconds)) return undefined;
  return { identity: holderOf(lease), did: `holds Lease ${name} in ${namespace}` };
}

function reporterOf(
  { reportingInstance, reportingComponent, lastTimestamp }: KubeObject & Event,
  now: number,
): Trace | undefined {
  const ago = now - Date.parse(lastTimestamp ?? "");
  if (reportingComponent !== "wave" || !reportingInstance || !(ago < recentMs)) return undefined;
  return { identity: reportingInstance, did: `reported an Event ${age(Math.max(0, ago))} ago` };
}

function hostIn(identity: string): string {
  const end = identity.lastIndexOf("_");
  return end < 0 ? identity : identity.slice(0, end);
}
