import { X509Certificate } from "node:crypto";
import type { Secret, Volume } from "kubernetes-types/core/v1.d.ts";
import { resources } from "../../kube/api/resources.ts";
import type { MutatingWebhook } from "../../webhook/certificates/configuration.ts";
import { type Certificate, readBundle } from "../../webhook/certificates/pem.ts";
import type { RunningWave } from "../cluster/running-wave.ts";
import { age } from "../output/age.ts";
import { type DoctorContext, deploymentRef } from "./doctor-context.ts";
import { type CheckResult, type Finding, kubectlArguments, notRead, type ObjectRef, problem, unchecked, warning } from "./finding.ts";
import { readObject } from "./read-object.ts";

/** Wave renews its own when a third of its life is left, cert-manager likewise: what ends sooner is not renewed. */
const soonMs = 7 * 86_400_000;

/** Whether the API server trusts the certificate that Wave serves by, and for how long. */
export async function checkCertificate(
  doctorContext: DoctorContext,
  wave: RunningWave,
  { clientConfig }: MutatingWebhook,
  where: ObjectRef,
): Promise<CheckResult> {
  const trusted = certificatesIn(clientConfig.caBundle);
  const logs = `kubectl logs ${kubectlArguments(deploymentRef(wave))}`;
  if (trusted.length === 0)
    return { found: [problem(where, "its caBundle has no certificate: the API server trusts nobody", logs)], fine: "" };
  const secret = secretOf(wave);
  if (secret === undefined) {
    const found = unchecked(where, "whether its caBundle is that of what Wave serves: its certificate is in no Secret");
    return { found: [found, ...expiry(trusted, where, doctorContext.now, logs)], fine: until(trusted) };
  }
  const stored = await readObject<Secret>(doctorContext, resources.secrets, secret);
  if ("unread" in stored)
    return {
      found: [
        notRead(secret, "whether the caBundle is that of it", stored),
        ...expiry(trusted, where, doctorContext.now, logs),
      ],
      fine: until(trusted),
    };
  const served = certificatesIn(stored.read?.data?.["tls.crt"]);
  const [serving] = served;
  if (serving === undefined)
    return { found: [problem(secret, "it has no certificate, or does not exist", logs)], fine: "" };
  const found = trusted.some((authority) => vouchesFor(authority, serving))
    ? []
    : [problem(where, `its caBundle does not trust the certificate of Secret ${secret.name}`, logs)];
  return { found: [...found, ...expiry([serving], secret, doctorContext.now, logs)], fine: until([serving]) };
}

/** The Secret that has the certificate: the one of Wave's authority, or one that is mounted where files are read. */
function secretOf(wave: RunningWave): ObjectRef | undefined {
  const { namespace } = wave;
  const directory = wave.values["webhook-tls-directory"];
  if (directory === undefined) {
    const service = wave.values["webhook-service-name"];
    return { kind: "Secret", namespace, name: `${service}-authority` };
  }
  const mount = wave.container.volumeMounts?.find(({ mountPath }) => mountPath === directory);
  const volume = wave.object.spec?.template.spec?.volumes?.find(({ name }) => name === mount?.name);
  const name = volume && secretIn(volume);
  return name === undefined ? undefined : { kind: "Secret", namespace, name };
}

/** The first Secret of which the whole is mounted: the others are of parts, such as a token. */
function secretIn({ secret, projected }: Volume): string | undefined {
  return (
    secret?.secretName ?? projected?.sources?.find((source) => source.secret && !source.secret.items)?.secret?.name
  );
}

function expiry(of: readonly Certificate[], where: ObjectRef, now: number, fix: string): readonly Finding[] {
  const end = Math.max(...of.map(({ notAfter }) => notAfter));
  if (end <= now) return [problem(where, `its certificate expired ${age(now - end)} ago`, fix)];
  if (end - now < soonMs)
    return [warning(where, `its certificate expires in ${age(end - now)}, and was not renewed`, fix)];
  return [];
}

function until(of: readonly Certificate[]): string {
  const end = Math.max(...of.map(({ notAfter }) => notAfter));
  return `its certificate is good until ${new Date(end).toISOString().slice(0, 10)}`;
}

/** What is damaged trusts nobody. */
function certificatesIn(base64 = ""): readonly Certificate[] {
  try {
    return readBundle(Buffer.from(base64, "base64").toString("utf8"));
  } catch {
    return [];
  }
}

/** Whether who trusts the one trusts the other: it is the same, or its issuer. */
function vouchesFor(authority: Certificate, served: Certificate): boolean {
  if (authority.fingerprint === served.fingerprint) return true;
  const [issuer, certificate] = [new X509Certificate(authority.pem), new X509Certificate(served.pem)];
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
