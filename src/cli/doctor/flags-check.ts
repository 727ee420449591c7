import { ApiError, ConnectionError } from "../../kube/api/errors.ts";
import { resources } from "../../kube/api/resources.ts";
import { hashKeySecret } from "../../manager/hash-key/hash-key-secret.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { mapBounded } from "../cluster/map-bounded.ts";
import { toReadFailure } from "../cluster/read-result.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { type DoctorContext, deploymentRef } from "./doctor-context.ts";
import { type CheckResult, type Finding, kubectlArguments, notRead, problem, unchecked, warning } from "./finding.ts";
import { permissionToGet, readObject } from "./read-object.ts";

/** Whether the arguments of Wave are such as it takes, and name namespaces and a Secret that exist. */
export async function checkFlags(doctorContext: DoctorContext): Promise<CheckResult> {
  const { serving } = doctorContext;
  const found = await Promise.all(
    serving.map(async (wave) => [
      ...mistakes(wave),
      ...(await missingNamespaces(doctorContext, wave)),
      ...(await hashKey(doctorContext, wave)),
    ]),
  );
  const count = serving.reduce((sum, { flags }) => sum + flags.size, 0);
  return { found: found.flat(), fine: `${count} given, all understood` };
}

function mistakes(wave: RunningWave): readonly Finding[] {
  const place = deploymentRef(wave);
  const { env = [] } = wave.container;
  const hidden = env.filter(({ name, valueFrom }) => name.startsWith("WAVE_") && valueFrom !== undefined);
  return [
    ...(wave.mistake === undefined
      ? []
      : [problem(place, `its flags are refused: ${wave.mistake}`, `kubectl edit ${kubectlArguments(place)}`)]),
    ...hidden.map(({ name }) => unchecked(place, `${name} is not known here: it comes from another object`)),
    ...(wave.values.observe
      ? [
          warning(
            place,
            "it rolls nothing, and only tells what it would roll: --observe",
            "take --observe off when you are ready",
          ),
        ]
      : []),
  ];
}

async function missingNamespaces(doctorContext: DoctorContext, wave: RunningWave): Promise<readonly Finding[]> {
  const served = wave.values.namespaces ?? [];
  const found = await mapBounded(served, async (name): Promise<readonly Finding[]> => {
    const there = await readObject(doctorContext, resources.namespaces, { kind: "Namespace", namespace: null, name });
    if ("unread" in there) return [notRead(deploymentRef(wave), `whether namespace ${name} exists`, there)];
    if (there.read !== undefined) return [];
    const what = `--namespaces names ${name}, which does not exist`;
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
    if ((await secret.read()) !== undefined) return [];
    const what = "it does not exist: no replica that starts decides anything before it has the key of hashes";
    return [problem(place, what, `kubectl logs ${kubectlArguments(deploymentRef(wave))}`)];
  } catch (error) {
    if (error instanceof ApiError || error instanceof ConnectionError)
      return [
        notRead(
          place,
          "whether the key of hashes is there",
          toReadFailure(permissionToGet(resources.secrets, place), error),
        ),
      ];
    // What is wrong with the Secret, and what to do about it.
    return [problem(place, errorText(error), "docs/adr/0008-hash-key.md")];
  }
}
