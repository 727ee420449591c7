import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";

/** The namespace whose Secrets simulate the vault. The path `shop/db` of external-secrets is the Secret `shop-db` there. */
export const vault = "vault";

/** The values of a vault by key, with the version of each key. */
type Vault = ReadonlyMap<string, { readonly data: Readonly<Record<string, string>>; readonly version: string }>;

/** A Secret, or a ConfigMap, in the namespace of the operator's object by default. */
interface Wanted {
  readonly kind?: "ConfigMap";
  readonly namespace?: string;
  readonly name: string;
  /** Undefined if the object must not exist. */
  readonly data: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Deployments whose Pods the operator restarts itself, after each write but the first. */
  readonly restarts?: readonly string[];
}

/** Returns what an operator writes for an object of its kind, according to its documentation. */
interface Operator {
  readonly resource: string;
  readonly wantedOf: (object: AnyObject, vault: Vault) => Wanted;
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

interface VaultStaticSecret extends AnyObject {
  readonly spec: {
    readonly path: string;
    readonly destination: { readonly name: string; readonly transformation?: { readonly excludeRaw?: boolean } };
    readonly rolloutRestartTargets?: readonly { readonly kind: string; readonly name: string }[];
  };
}

interface Bundle extends AnyObject {
  readonly spec: {
    readonly sources: readonly { readonly inLine: string }[];
    readonly target: {
      readonly configMap: { readonly key: string };
      readonly namespaceSelector: { readonly matchLabels: { readonly "kubernetes.io/metadata.name": string } };
    };
  };
}

interface Certificate extends AnyObject {
  readonly spec: { readonly secretName: string; readonly dnsNames: readonly string[] };
}

const operators: readonly Operator[] = [
  {
    // With `deletionPolicy: Delete`. Annotations are copied to the Secret, so that each forced refresh writes the Secret.
    resource: "external-secrets.io/v1/externalsecrets",
    wantedOf: (object, values) => {
      const { target, data } = (object as ExternalSecret).spec;
      const fetched = data.map(({ secretKey, remoteRef: { key, property } }) => [
        secretKey,
        values.get(key.replaceAll("/", "-"))?.data[property],
      ]);
      const annotations = { "force-sync": object.metadata.annotations?.["force-sync"] ?? "" };
      const isWhole = fetched.every(([, value]) => value !== undefined);
      return { name: target.name, data: isWhole ? Object.fromEntries(fetched) : undefined, annotations };
    },
  },
  {
    // The key `_raw` has the whole response of Vault, with the version of the secret.
    resource: "secrets.hashicorp.com/v1beta1/vaultstaticsecrets",
    wantedOf: (object, values) => {
      const { path, destination, rolloutRestartTargets = [] } = (object as VaultStaticSecret).spec;
      const found = values.get(path.replaceAll("/", "-"));
      const raw = destination.transformation?.excludeRaw === true ? {} : { _raw: base64(JSON.stringify(found) ?? "") };
      return {
        name: destination.name,
        data: found && { ...found.data, ...raw },
        restarts: rolloutRestartTargets.map(({ name }) => name),
      };
    },
  },
  {
    resource: "trust.cert-manager.io/v1alpha1/bundles",
    wantedOf: (object) => {
      const { sources, target } = (object as Bundle).spec;
      return {
        kind: "ConfigMap",
        namespace: target.namespaceSelector.matchLabels["kubernetes.io/metadata.name"],
        name: object.metadata.name,
        data: { [target.configMap.key]: sources.map(({ inLine }) => inLine).join("") },
      };
    },
  },
  {
    resource: "bitnami.com/v1alpha1/sealedsecrets",
    wantedOf: (object) => {
      const { encryptedData } = (object as SealedSecret).spec;
      const opened = Object.entries(encryptedData).map(([key, sealed]) => [key, base64(unsealed(sealed))]);
      return { name: object.metadata.name, data: Object.fromEntries(opened) };
    },
  },
  {
    // Another name causes another certificate, like a renewal, with the same authority.
    resource: "cert-manager.io/v1/certificates",
    wantedOf: (object) => {
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
 * Simulates operators until disposal: each operator writes the Secrets or ConfigMaps that its objects request, and retries writes that the API server refuses.
 */
export function playOperators(cluster: Cluster): PlayedOperators {
  const ending = new AbortController();
  const written = new Map<string, string>();
  let rounds = 0;

  const write = async (object: AnyObject, wanted: Wanted) => {
    const { kind = "Secret", namespace = object.metadata.namespace, name, data, annotations } = wanted;
    const path = `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
    const text = JSON.stringify([object.metadata.uid, data, annotations]);
    const before = written.get(path);
    if (before === text) return;
    if (data === undefined) await cluster.api("DELETE", path).catch(() => undefined);
    else
      await cluster.api(
        "PATCH",
        `${path}?fieldManager=operator&force=true`,
        { apiVersion: "v1", kind, metadata: { name, annotations }, data },
        "application/apply-patch+yaml",
      );
    written.set(path, text);
    if (before !== undefined)
      for (const restarted of wanted.restarts ?? [])
        await cluster.kubectl(["rollout", "restart", `deployment/${restarted}`, "-n", `${namespace}`]);
  };
  const round = async () => {
    const secrets = await cluster.list(`/api/v1/namespaces/${vault}/secrets`);
    const values: Vault = new Map(
      secrets.map(({ metadata, data }) => [
        metadata.name,
        { data: data as Record<string, string>, version: `${metadata.resourceVersion}` },
      ]),
    );
    for (const { resource, wantedOf } of operators)
      for (const object of await cluster.list(`/apis/${resource}`))
        if (object.metadata.deletionTimestamp === undefined) await write(object, wantedOf(object, values));
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
