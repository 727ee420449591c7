import { isApiFailure } from "../../kube/api/api-failure.ts";
import type { Settings } from "../../manager/settings.ts";
import { describeWave } from "../cluster/running-wave/known-policy.ts";
import { type RunningWave, readRunningWaves } from "../cluster/running-wave/running-wave.ts";
import { loadCluster, withCluster } from "../command/cluster-command.ts";
import { exitCodes, type Terminal } from "../command/command.ts";
import { UsageError } from "../flags/flag-types.ts";
import { runIf } from "./run.ts";
import { runErrorTexts } from "./run-arguments.ts";

/** `wave run` on a machine of a person. */
export const runOutside = runIf(refuseSecondWave);

/**
 * Refuses to start a Wave outside the cluster if an installed Wave rolls the same namespaces: each workload would roll twice. Does nothing if
 * the Deployments cannot be read.
 * @throws UsageError that names the installed Wave.
 */
async function refuseSecondWave(settings: Settings, terminal: Terminal): Promise<void> {
  if (settings.podNamespace !== undefined || settings.besideInstalled || settings.pacing.observe) return;
  const { cluster, namespaces } = settings;
  const config = await loadCluster(cluster, terminal);
  let installed: RunningWave | undefined;
  try {
    await withCluster("run", config, async ({ client }) => {
      const waves = await readRunningWaves(client);
      installed = "unread" in waves ? undefined : waves.find((wave) => overlaps(wave, namespaces));
      return exitCodes.done;
    });
  } catch (error) {
    // Wave waits for an API server that does not answer.
    if (!isApiFailure(error)) throw error;
  }
  if (installed !== undefined) throw new UsageError(runErrorTexts.secondWave(describeWave(installed)));
}

function overlaps({ object, values }: RunningWave, namespaces: Settings["namespaces"]): boolean {
  if (object.spec?.replicas === 0 || values.observe) return false;
  const { namespaces: watched } = values;
  return watched === undefined || namespaces === undefined || watched.some((each) => namespaces.includes(each));
}
