import { isClusterFailure } from "../../../kube/api/api-failure.ts";
import { resources } from "../../../kube/api/resources.ts";
import { hashKeySecret, readStoredKeys } from "../../../manager/hash-key/hash-key-secret.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { mapBounded, toReadFailure } from "../../cluster/requests.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { sentences } from "../../output/sentences.ts";
import { type DoctorContext, deploymentRef, permissionToGet, readObject } from "../context/doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  notRead,
  problem,
  unchecked,
  warning,
} from "../context/finding.ts";

/** Checks that the flags of Wave are valid, and that the namespaces and the Secret that they name exist. */
export async function checkFlags(doctorContext: DoctorContext): Promise<CheckResult> {
  const { watching } = doctorContext;
  const found = await Promise.all(
    watching.map(async (wave) => [
      ...mistakes(wave),
      ...(await missingNamespaces(doctorContext, wave)),
      ...(await hashKey(doctorContext, wave)),
    ]),
  );
  const count = watching.reduce((sum, { flags }) => sum + flags.size, 0);
  return { found: found.flat(), fine: `${count} flags set, all valid` };
}

function mistakes(wave: RunningWave): readonly Finding[] {
  const { mistake, container, values } = wave;
  const place = deploymentRef(wave);
  const found: Finding[] = [];
  if (mistake !== undefined)
    found.push(
      problem(place, sentences(`Wave rejects its flags: ${mistake}`), `kubectl edit ${kubectlArguments(place)}`),
    );
  for (const { name, valueFrom } of container.env ?? [])
    if (name.startsWith("WAVE_") && valueFrom !== undefined)
      found.push(unchecked(place, `Variable ${name} was not checked. Its value comes from another object.`));
  if (values.observe) {
    const what = "Wave rolls nothing. --observe is set, so Wave only reports what it would roll.";
    found.push(warning(place, what, "Remove --observe when you are ready."));
  }
  return found;
}

async function missingNamespaces(doctorContext: DoctorContext, wave: RunningWave): Promise<readonly Finding[]> {
  const watched = wave.values.namespaces ?? [];
  const found = await mapBounded(watched, async (name): Promise<readonly Finding[]> => {
    const there = await readObject(doctorContext, resources.namespaces, { kind: "Namespace", namespace: null, name });
    if ("unread" in there) return [notRead(deploymentRef(wave), `Namespace ${name} was not checked`, there)];
    if (there.read !== undefined) return [];
    const what = `Namespace ${name} does not exist. --namespaces names it.`;
    return [problem(deploymentRef(wave), what, `kubectl create namespace ${name}`)];
  });
  return found.flat();
}

async function hashKey({ cluster }: DoctorContext, wave: RunningWave): Promise<readonly Finding[]> {
  const name = wave.values["hash-key-secret"];
  if (name === undefined) return [];
  const place = { kind: "Secret", ...name };
  const secret = hashKeySecret(cluster.client, name);
  try {
    if ((await readStoredKeys(secret)) !== undefined) return [];
    const what = "The Secret does not exist. A replica that starts decides nothing until it has the key of the hashes.";
    return [problem(place, what, `kubectl logs ${kubectlArguments(deploymentRef(wave))}`)];
  } catch (error) {
    if (!isClusterFailure(error)) return [problem(place, sentences(errorText(error)), null)];
    const failure = toReadFailure(permissionToGet(resources.secrets, place), error);
    return [notRead(place, "The key of the hashes was not checked", failure)];
  }
}
