import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";

/** The namespace whose Secrets simulate the vault. The path `shop/db` of external-secrets is the Secret `shop-db` there. */
export const vault = "vault";

/** The values of a vault, by key and property. */
type Vault = ReadonlyMap<string, Readonly<Record<string, string>>>;

interface WantedSecret {
  readonly name: string;
  /** Undefined if the Secret must not exist. */
  readonly data: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Returns the Secret that an operator writes for an object of its kind, according to its documentation. */
interface Operator {
  readonly resource: string;
  readonly secretOf: (object: AnyObject, vault: Vault) => WantedSecret;
}

interface ExternalSecret extends AnyObject {
  readonly spec: {
    readonly target: { readonly name: string };
    readonly data: readonly {
      readonly secretKey: string;
      readonly remoteRef: { readonly key: string; readonly property: string };
    }[];
  };
}

interface SealedSecret extends AnyObject {
  readonly spec: { readonly encryptedData: Readonly<Record<string, string>> };
}

interface Certificate extends AnyObject {
  readonly spec: { readonly secretName: string; readonly dnsNames: readonly string[] };
}

const operators: readonly Operator[] = [
  {
    // With `deletionPolicy: Delete`. Annotations are copied to the Secret, so that each forced refresh writes the Secret.
    resource: "external-secrets.io/v1/externalsecrets",
    secretOf: (object, values) => {
      const { target, data } = (object as ExternalSecret).spec;
      const fetched = data.map(({ secretKey, remoteRef: { key, property } }) => [
        secretKey,
        values.get(key.replaceAll("/", "-"))?.[property],
      ]);
      const annotations = { "force-sync": object.metadata.annotations?.["force-sync"] ?? "" };
      const isWhole = fetched.every(([, value]) => value !== undefined);
      return { name: target.name, data: isWhole ? Object.fromEntries(fetched) : undefined, annotations };
    },
  },
  {
    resource: "bitnami.com/v1alpha1/sealedsecrets",
    secretOf: (object) => {
      const { encryptedData } = (object as SealedSecret).spec;
      const opened = Object.entries(encryptedData).map(([key, sealed]) => [key, base64(unsealed(sealed))]);
      return { name: object.metadata.name, data: Object.fromEntries(opened) };
    },
  },
  {
    // Another name causes another certificate, like a renewal, with the same authority.
    resource: "cert-manager.io/v1/certificates",
    secretOf: (object) => {
      const { secretName, dnsNames } = (object as Certificate).spec;
      const issued = { "tls.crt": `of ${dnsNames.join()}`, "tls.key": `for ${dnsNames.join()}`, "ca.crt": "authority" };
      return {
        name: secretName,
        data: Object.fromEntries(Object.entries(issued).map(([key, text]) => [key, base64(text)])),
      };
    },
  },
];

/** Seals a text in a simulated way: a random addition makes all seals of one text different. */
export const sealed = (text: string, anything: string) => base64(`${anything}:${text}`);
const unsealed = (cipher: string) => Buffer.from(cipher, "base64").toString().replace(/^.*?:/s, "");
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Adds the kinds of operators and of GitOps tools to a cluster, and waits until they are served. */
export async function defineOthersKinds(cluster: Cluster): Promise<void> {
  const folder = join(import.meta.dirname, "crds");
  const manifests = globSync("*.yaml", { cwd: folder }).map((file) => readFileSync(join(folder, file), "utf8"));
  await cluster.kubectl(["apply", "-f", "-"], manifests.join("---\n"));
  for (const { resource } of operators)
    await until(`${resource} to be served`, () => cluster.list(`/apis/${resource}`));
}

/** Simulated operators. */
export interface PlayedOperators extends AsyncDisposable {
  /** Resolves when the operators have processed everything that was stored before. */
  readonly caughtUp: () => Promise<void>;
}

/**
 * Simulates external-secrets, sealed-secrets and cert-manager until disposal: each operator writes the Secrets that its objects
 * request, and retries writes that the API server refuses.
 */
export function playOperators(cluster: Cluster): PlayedOperators {
  const ending = new AbortController();
  const written = new Map<string, string>();
  let rounds = 0;

  const write = async (object: AnyObject, wanted: WantedSecret) => {
    const path = `/api/v1/namespaces/${object.metadata.namespace}/secrets/${wanted.name}`;
    const text = JSON.stringify([object.metadata.uid, wanted]);
    if (written.get(path) === text) return;
    const { name, data, annotations } = wanted;
    if (data === undefined) await cluster.api("DELETE", path).catch(() => undefined);
    else
      await cluster.api(
        "PATCH",
        `${path}?fieldManager=operator&force=true`,
        { apiVersion: "v1", kind: "Secret", metadata: { name, annotations }, data },
        "application/apply-patch+yaml",
      );
    written.set(path, text);
  };
  const round = async () => {
    const secrets = await cluster.list(`/api/v1/namespaces/${vault}/secrets`);
    const values = new Map(secrets.map(({ metadata, data }) => [metadata.name, data as Record<string, string>]));
    for (const { resource, secretOf } of operators)
      for (const object of await cluster.list(`/apis/${resource}`))
        if (object.metadata.deletionTimestamp === undefined) await write(object, secretOf(object, values));
  };
  const play = async () => {
    while (!ending.signal.aborted) {
      // The namespace is being deleted or the server is busy: retried in the next round.
      await round()
        .then(() => rounds++)
        .catch(() => undefined);
      await after(250, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const played = play();
  return {
    async caughtUp() {
      // The current round may have begun earlier.
      const enough = rounds + 2;
      await until("the operators to look", async () => (rounds >= enough ? true : undefined));
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await played;
    },
  };
}
