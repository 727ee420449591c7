import { formatCount, quoted } from "../../../domain/syntax/names.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { notificationMetrics } from "../../../telemetry/catalogue/notifications.ts";
import { tryRead } from "../../cluster/requests.ts";
import { hasReadyReplica, type RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { type DoctorContext, deploymentRef, forEachWave, notReady, readWavePods } from "../context/doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  notRead,
  problem,
  unchecked,
  warning,
} from "../context/finding.ts";

/** Checks that each receiver of `--notify` accepts messages, by the metrics of the replicas since they started. */
export function checkReceivers(doctorContext: DoctorContext): Promise<CheckResult> {
  return forEachWave(doctorContext, (wave) => receiversOf(doctorContext, wave));
}

/** The notifications of one receiver since its replicas started. */
interface Results {
  sent: number;
  failed: number;
  /** A Pod whose log has the cause of a failure. */
  pod: string;
}

async function receiversOf({ cluster: { client } }: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  if (wave.values.notify === undefined) return { found: [], fine: "no receivers" };
  if (!hasReadyReplica(wave)) return notReady(wave);
  const { namespace } = wave;
  const where = deploymentRef(wave);
  const port = /:(\d+)$/.exec(wave.values["metrics-bind-address"] ?? "")?.[1];
  if (port === undefined)
    return { found: [unchecked(where, "Receivers were not checked, because --metrics-bind-address is 0.")] };
  const pods = await readWavePods(client, wave);
  if ("unread" in pods) return { found: [notRead(where, "Receivers were not checked", pods)] };
  const running = pods.read.filter(({ status }) => status?.phase === "Running").map(({ metadata }) => metadata.name);
  const texts = await tryRead(`get pods/proxy in ${namespace}`, () =>
    Promise.all(
      running.map(async (pod) => {
        const path = `${resourcePath(resources.pods, { namespace, name: `${pod}:${port}` })}/proxy/metrics`;
        return { pod, text: await readText(client, path) };
      }),
    ),
  );
  if ("unread" in texts) return { found: [notRead(where, "Receivers were not checked", texts)] };
  const receivers = countResults(texts.read);
  const found = [...receivers].flatMap(([name, results]) => findingAbout(name, results, wave));
  return {
    found,
    fine: `${formatCount(receivers.size)} ${receivers.size === 1 ? "receiver accepts" : "receivers accept"} messages`,
  };
}

async function readText(client: ApiClient, path: string): Promise<string> {
  await using stream = await client.stream({ method: "GET", path, accept: "text/plain" });
  const decoder = new TextDecoder();
  let text = "";
  // The stream overwrites each chunk when it reads the next.
  for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  return text;
}

const sample = new RegExp(`^${notificationMetrics.notifications.name}\\{([^}]*)\\} (\\d+)$`, "gm");

function countResults(
  replicas: readonly { readonly pod: string; readonly text: string }[],
): ReadonlyMap<string, Results> {
  const receivers = new Map<string, Results>();
  for (const { pod, text } of replicas)
    for (const [, labels = "", count] of text.matchAll(sample)) {
      const { receiver = "", result = "" } = Object.fromEntries(
        Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, name, value]) => [name, value]),
      );
      const results = receivers.get(receiver) ?? { sent: 0, failed: 0, pod };
      receivers.set(receiver, results);
      if (result === "sent") results.sent += Number(count);
      if (result !== "failed" || count === "0") continue;
      results.failed += Number(count);
      results.pod = pod;
    }
  return receivers;
}

function findingAbout(name: string, { sent, failed, pod }: Results, wave: RunningWave): readonly Finding[] {
  if (failed === 0) return [];
  const where = deploymentRef(wave);
  const what = `Receiver ${quoted(name)} of --notify accepted ${formatCount(sent)} of ${formatCount(sent + failed)} notifications since Wave started.`;
  // The log has the cause of each lost notification.
  const fix = `kubectl logs ${kubectlArguments({ ...where, kind: "Pod", name: pod })}`;
  return [(sent === 0 ? problem : warning)(where, what, fix)];
}
