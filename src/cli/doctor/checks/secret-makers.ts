import { fieldsOf, textOf } from "../../../domain/syntax/unknown-fields.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { isNotFound } from "../../../kube/api/errors.ts";
import { type Resource, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../../cluster/requests/list-all.ts";
import { tryRead } from "../../cluster/requests/read-result.ts";

/** Returns the object that makes a Secret; undefined if none does, and "unknown" if that cannot be read. */
export type SecretMaker = (namespace: string, secret: string) => Maker | "unknown" | undefined;

/** The object that makes a Secret, with the resource by which kubectl finds it. */
interface Maker {
  readonly resource: string;
  readonly name: string;
}

/** A kind whose objects make Secrets. */
interface MakerRow {
  /** The served versions, the newest first. */
  readonly versions: readonly Resource[];
  /** Returns the names of the Secrets that an object makes. */
  readonly secretsOf: (object: KubeObject) => readonly string[];
}

const externalSecrets = (version: string): Resource => ({
  apiVersion: `external-secrets.io/${version}`,
  kind: "ExternalSecret",
  plural: "externalsecrets",
  namespaced: true,
});

/** The specs may have any content: they are checked by other programs. */
const specOf = (object: KubeObject) => fieldsOf((object as { readonly spec?: unknown }).spec);

/** https://external-secrets.io/latest/api/externalsecret/ and https://secrets-store-csi-driver.sigs.k8s.io/topics/sync-as-kubernetes-secret */
const rows: readonly MakerRow[] = [
  {
    versions: [externalSecrets("v1"), externalSecrets("v1beta1")],
    secretsOf: (object) => [textOf(fieldsOf(specOf(object).target).name) || object.metadata.name],
  },
  {
    versions: [resources.secretProviderClasses],
    secretsOf: (object) => {
      const { secretObjects } = specOf(object);
      const all: readonly unknown[] = Array.isArray(secretObjects) ? secretObjects : [];
      return all.map((each) => textOf(fieldsOf(each).secretName));
    },
  },
];

/** Reads what makes the Secrets of some namespaces: a person who creates such a Secret by hand would hide the real problem. Never rejects. */
export async function readSecretMakers(client: ApiClient, namespaces: Iterable<string>): Promise<SecretMaker> {
  const makers = new Map<string, Maker>();
  const unknown = new Set<string>();
  for (const namespace of new Set(namespaces)) {
    for (const { versions, secretsOf } of rows) {
      const found = await tryRead("list what makes Secrets", () => listServed(client, namespace, versions));
      if ("unread" in found) unknown.add(namespace);
      else
        for (const { object, resource } of found.read)
          for (const secret of secretsOf(object))
            makers.set(`${namespace}/${secret}`, { resource, name: object.metadata.name });
    }
  }
  return (namespace, secret) =>
    makers.get(`${namespace}/${secret}`) ?? (unknown.has(namespace) ? "unknown" : undefined);
}

/** Lists the objects of the first version that the API server serves; none if it serves no version. */
async function listServed(
  client: ApiClient,
  namespace: string,
  versions: readonly Resource[],
): Promise<readonly { readonly object: KubeObject; readonly resource: string }[]> {
  for (const version of versions) {
    try {
      const resource = `${version.plural}.${version.apiVersion.split("/")[0]}`;
      return await listAll(client, version, { namespace }, (object: KubeObject) => ({ object, resource }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return [];
}
