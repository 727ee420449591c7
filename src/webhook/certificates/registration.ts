import { isDeepStrictEqual } from "node:util";
import type { WantedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { isNotFound } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";
import { type MutatingWebhook, webhookConfiguration } from "./configuration.ts";
import { pathWith, tokenIn } from "./path-token.ts";
import { type Certificate, readBundle, writeBundle } from "./pem.ts";

/** A MutatingWebhookConfiguration as the API server stores it. */
type StoredConfiguration = KubeObject & { readonly webhooks?: readonly MutatingWebhook[] };

/** What the API server trusts and how it calls, as it was read. */
export interface Registered {
  /** The certificates that every webhook of Wave's in it has in its caBundle. */
  readonly trusted: readonly Certificate[];
  /** The token that every webhook of Wave's in it has in its path; undefined where one has none or another one. */
  readonly token: string | undefined;
  /** How many of its webhooks call Wave. */
  readonly callers: number;
  readonly object: StoredConfiguration;
}

/** What is to be registered. */
export interface Publishing {
  /** Exactly what the API server is to trust; empty: nothing is known about that. Undefined: it is not Wave's to say. */
  readonly trusted: readonly Certificate[] | undefined;
  /** In the path by which it is to call. */
  readonly token: string;
}

/** How the API server knows of this webhook: a MutatingWebhookConfiguration. */
export interface Registration {
  /** Its name. */
  readonly name: string;
  /** As it is now, undefined where there is none. */
  read(signal: AbortSignal): Promise<Registered | undefined>;
  /**
   * Makes the API server trust these certificates and call by this path, both at once. Writes nothing where it does, and
   * nothing where it must not (then undefined: there is no configuration in the cluster to be kept).
   * @throws ApiError 409, 422 or 404 where the configuration is no longer as it was read.
   */
  publish(before: Registered | undefined, publishing: Publishing, signal: AbortSignal): Promise<Registered | undefined>;
  /** Takes back what Wave registered itself; does nothing to what was installed. */
  withdraw(signal: AbortSignal): Promise<void>;
}

/** The Service through which the API server reaches Wave in the cluster. */
export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The configuration that was installed with Wave, named like its Service. Only the caBundle and the path of the webhooks
 * that point at that Service are written, by a patch that fails where the object is newer than what was read.
 */
export function installedRegistration(client: ApiClient, service: ServiceName): Registration {
  const { name } = service;
  const isOurs = ({ clientConfig }: MutatingWebhook) =>
    clientConfig.service?.name === service.name && clientConfig.service.namespace === service.namespace;
  const path = pathOf(name);
  return {
    name,
    read: async (signal) => registered(await get(client, path, signal), isOurs),
    async publish(before, publishing, signal) {
      if (before === undefined) return before;
      const { metadata, webhooks = [] } = before.object;
      const changes = webhooks.flatMap((webhook, index) =>
        isOurs(webhook) ? changesOf(webhook, index, publishing) : [],
      );
      if (changes.length === 0) return before;
      const patch = [{ op: "test", path: "/metadata/resourceVersion", value: metadata.resourceVersion }, ...changes];
      const query = { fieldManager: "wave" };
      return registered(
        await client.request<StoredConfiguration>({
          method: "PATCH",
          path,
          query,
          body: patch,
          contentType: "application/json-patch+json",
          signal,
        }),
        isOurs,
      );
    },
    withdraw: async () => {},
  };
}

/** A configuration that Wave registers itself, to be called at this URL, and takes back when it ends. */
export function ownRegistration(
  client: ApiClient,
  url: URL,
  { namespaces, compatibility }: Pick<Policy, "namespaces" | "compatibility">,
  workloadKinds?: readonly WantedKind[],
): Registration {
  // Named after the URL: replicas with URLs of their own do not overwrite each other, nor what is installed in the cluster.
  const name = `wave-${url.host
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, "-")
    .replace(/^-+|-+$/g, "")}`;
  const path = pathOf(name);
  const isOurs = () => true;
  return {
    name,
    read: async (signal) => registered(await get(client, path, signal), isOurs),
    async publish(before, { trusted, token }, signal) {
      const caBundle = trusted ? encode(trusted) : before?.object.webhooks?.[0]?.clientConfig.caBundle;
      const clientConfig = { url: new URL(pathWith(token), url).href, ...(caBundle ? { caBundle } : {}) };
      const wanted = webhookConfiguration({ name, clientConfig, namespaces, compatibility, workloadKinds });
      if (before !== undefined && isDeepStrictEqual(before.object.webhooks, wanted.webhooks)) return before;
      const object = await client.request<StoredConfiguration>({
        method: before ? "PUT" : "POST",
        path: before ? path : pathOf(),
        query: { fieldManager: "wave" },
        body: before ? { ...before.object, webhooks: wanted.webhooks } : wanted,
        signal,
      });
      return registered(object, isOurs);
    },
    async withdraw(signal) {
      await client.request({ method: "DELETE", path, signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    },
  };
}

/** The operations that put one webhook right. */
function changesOf({ clientConfig }: MutatingWebhook, index: number, { trusted = [], token }: Publishing) {
  const at = `/webhooks/${index}/clientConfig`;
  const caBundle = encode(trusted);
  const path = pathWith(token);
  return [
    ...(caBundle === "" || clientConfig.caBundle === caBundle
      ? []
      : [{ op: "add", path: `${at}/caBundle`, value: caBundle }]),
    ...(clientConfig.service?.path === path ? [] : [{ op: "add", path: `${at}/service/path`, value: path }]),
  ];
}

const pathOf = (name?: string) => resourcePath(resources.mutatingWebhookConfigurations, { name });

function get(client: ApiClient, path: string, signal: AbortSignal): Promise<StoredConfiguration | undefined> {
  return readIfThere<StoredConfiguration>(client, { path, signal });
}

function encode(bundle: readonly Certificate[]): string {
  return Buffer.from(writeBundle(bundle)).toString("base64");
}

function registered(
  object: StoredConfiguration | undefined,
  isOurs: (webhook: MutatingWebhook) => boolean,
): Registered | undefined {
  if (object === undefined) return undefined;
  const ours = (object.webhooks ?? []).filter(isOurs);
  const [first = [], ...others] = ours.map((webhook) => decode(webhook.clientConfig.caBundle));
  const trusted = first.filter(({ fingerprint }) =>
    others.every((bundle) => bundle.some((certificate) => certificate.fingerprint === fingerprint)),
  );
  const [token, ...otherTokens] = new Set(ours.map((webhook) => tokenIn(webhook.clientConfig)));
  return { trusted, token: otherTokens.length > 0 ? undefined : token, callers: ours.length, object };
}

/** A caBundle that somebody broke trusts nobody; it is then put right. */
function decode(caBundle: string | undefined): readonly Certificate[] {
  try {
    return readBundle(Buffer.from(caBundle ?? "", "base64").toString("utf8"));
  } catch {
    return [];
  }
}
