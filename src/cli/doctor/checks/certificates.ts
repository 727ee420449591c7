import { X509Certificate } from "node:crypto";
import type { Secret } from "#kubernetes";
import { resources } from "../../../kube/api/resources.ts";
import type { MutatingWebhook } from "../../../webhook/certificates/configuration.ts";
import { type Certificate, readBundle } from "../../../webhook/certificates/pem.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { age } from "../../output/sentences.ts";
import { type DoctorContext, deploymentRef, readObject } from "../context/doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  notRead,
  type ObjectRef,
  problem,
  unchecked,
  warning,
} from "../context/finding.ts";

/** Wave and cert-manager renew a certificate when a third of its lifetime is left. A certificate that ends this soon was not renewed. */
const soonMs = 7 * 86_400_000;

/** Checks that the API server trusts the certificate of the webhook, and that the certificate does not expire soon. */
export async function checkCertificate(
  doctorContext: DoctorContext,
  wave: RunningWave,
  { clientConfig }: MutatingWebhook,
  where: ObjectRef,
): Promise<CheckResult> {
  const trusted = certificatesIn(clientConfig.caBundle);
  const logs = `kubectl logs ${kubectlArguments(deploymentRef(wave))}`;
  const withExpiry = (found: readonly Finding[], of: readonly Certificate[], on: ObjectRef): CheckResult => {
    const end = Math.max(...of.map(({ notAfter }) => notAfter));
    return {
      found: [...found, ...expiry(end, on, doctorContext.now, logs)],
      fine: `certificate valid until ${new Date(end).toISOString().slice(0, 10)}`,
    };
  };
  if (trusted.length === 0)
    return {
      found: [problem(where, "The caBundle contains no certificate, so the API server cannot call the webhook.", logs)],
    };
  const secret = secretOf(wave);
  if (secret === undefined) {
    const what =
      "The caBundle was not compared with the served certificate, because no Secret contains that certificate.";
    return withExpiry([unchecked(where, what)], trusted, where);
  }
  const stored = await readObject<Secret>(doctorContext, resources.secrets, secret);
  if ("unread" in stored)
    return withExpiry([notRead(secret, "The caBundle was not compared with this certificate", stored)], trusted, where);
  const [serving] = certificatesIn(stored.read?.data?.["tls.crt"]);
  if (serving === undefined)
    return { found: [problem(secret, "The Secret does not exist or contains no certificate.", logs)] };
  const found = trusted.some((authority) => trusts(authority, serving))
    ? []
    : [problem(where, `The caBundle does not trust the certificate in Secret ${secret.name}.`, logs)];
  return withExpiry(found, [serving], secret);
}

/** Returns the Secret of the served certificate: the Secret of Wave's authority, or the Secret mounted at --webhook-tls-directory. */
function secretOf(wave: RunningWave): ObjectRef | undefined {
  const { namespace } = wave;
  const directory = wave.values["webhook-tls-directory"];
  if (directory === undefined) {
    const service = wave.values["webhook-service-name"];
    return { kind: "Secret", namespace, name: `${service}-authority` };
  }
  const mount = wave.container.volumeMounts?.find(({ mountPath }) => mountPath === directory);
  const volume = wave.object.spec?.template.spec?.volumes?.find(({ name }) => name === mount?.name);
  // Secrets that are mounted in part contain something else, such as a token.
  const whole = volume?.projected?.sources?.find(({ secret }) => secret && !secret.items);
  const name = volume?.secret?.secretName ?? whole?.secret?.name;
  return name === undefined ? undefined : { kind: "Secret", namespace, name };
}

function expiry(end: number, where: ObjectRef, now: number, fix: string): readonly Finding[] {
  if (end <= now) return [problem(where, `The certificate expired ${age(now - end)} ago.`, fix)];
  if (end - now < soonMs)
    return [warning(where, `The certificate expires in ${age(end - now)} and was not renewed.`, fix)];
  return [];
}

/** Returns the certificates of a bundle; an empty list if the bundle is malformed. */
function certificatesIn(base64 = ""): readonly Certificate[] {
  try {
    return readBundle(Buffer.from(base64, "base64").toString("utf8"));
  } catch {
    return [];
  }
}

/** Reports whether trust in `authority` includes `served`: both are the same, or `authority` is the issuer. */
function trusts(authority: Certificate, served: Certificate): boolean {
  if (authority.fingerprint === served.fingerprint) return true;
  const [issuer, certificate] = [new X509Certificate(authority.pem), new X509Certificate(served.pem)];
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
