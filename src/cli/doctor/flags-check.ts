import { ApiError, ConnectionError } from "../../kube/api/errors.ts";
import { resources } from "../../kube/api/resources.ts";
import { hashKeySecret } from "../../manager/hash-key/hash-key-secret.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { inLane } from "../cluster/bounded-reads.ts";
import { unreadFor } from "../cluster/reading.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { type DoctorContext, placeOf } from "./doctor-context.ts";
import { type Examined, type Found, kubectlName, notRead, problem, unchecked, warning } from "./finding.ts";
import { permissionToGet, readOne } from "./stored.ts";

/** Whether the arguments of Wave are such as it takes, and name namespaces and a Secret that exist. */
export async function inheritedFlags(doctorContext: DoctorContext): Promise<Examined> {
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

function mistakes(wave: RunningWave): readonly Found[] {
  const place = placeOf(wave);
  const { env = [] } = wave.container;
  const hidden = env.filter(({ name, valueFrom }) => name.startsWith("WAVE_") && valueFrom !== undefined);
  return [
    ...(wave.mistake === undefined
      ? []
      : [problem(place, `its flags are refused: ${wave.mistake}`, `kubectl edit ${kubectlName(place)}`)]),
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

async function missingNamespaces(doctorContext: DoctorContext, wave: RunningWave): Promise<readonly Found[]> {
  const served = wave.values.namespaces ?? [];
  const found = await inLane(served, async (name): Promise<readonly Found[]> => {
    const there = await readOne(doctorContext, resources.namespaces, { kind: "Namespace", namespace: null, name });
    if ("unread" in there) return [notRead(placeOf(wave), `whether namespace ${name} exists`, there)];
    if (there.read !== undefined) return [];
    const what = `--namespaces names ${name}, which does not exist`;
    return [problem(placeOf(wave), what, `kubectl create namespace ${name}`)];
  });
  return found.flat();
}

async function hashKey({ cluster }: DoctorContext, wave: RunningWave): Promise<readonly Found[]> {
  const name = wave.values["hash-key-secret"];
  if (name === undefined) return [];
  const place = { kind: "Secret", ...name };
  const secret = hashKeySecret(cluster.client, name);
  try {
    if ((await secret.read()) !== undefined) return [];
    const what = "it does not exist: no replica that starts decides anything before it has the key of hashes";
    return [problem(place, what, `kubectl logs ${kubectlName(placeOf(wave))}`)];
  } catch (error) {
    if (error instanceof ApiError || error instanceof ConnectionError)
      return [
        notRead(
          place,
          "whether the key of hashes is there",
          unreadFor(permissionToGet(resources.secrets, place), error),
        ),
      ];
    // What is wrong with the Secret, and what to do about it.
    return [problem(place, errorText(error), "docs/adr/0008-hash-key.md")];
  }
}
