import { isDeepStrictEqual } from "node:util";
import type { RequestedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { isNotFound } from "../../kube/api/api-failure.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { type MutatingWebhook, type StoredConfiguration, webhookConfiguration } from "./configuration.ts";
import { pathWith, tokenIn } from "./path-token.ts";
import { type Certificate, readBundle, writeBundle } from "./pem.ts";

/** The registration as it was read. */
export interface RegistrationState {
  /** The certificates that are in the caBundle of all webhooks of Wave. */
  readonly trusted: readonly Certificate[];
  /** The token in the paths of all webhooks of Wave; undefined if one has no token or another one. */
  readonly token: string | undefined;
  /** Number of webhooks that call Wave. */
  readonly webhookCount: number;
  readonly object: StoredConfiguration;
}

/** The caBundle and the path that {@link Registration.publish} writes. */
interface DesiredRegistration {
  /** The exact content of the caBundle. Empty: not known. Undefined: another program writes it. */
  readonly trusted: readonly Certificate[] | undefined;
  /** The token of the path. */
  readonly token: string;
}

/** The MutatingWebhookConfiguration of this webhook. */
export interface Registration {
  /** Name of the MutatingWebhookConfiguration. */
  readonly name: string;
  /** Reads the current state; undefined if there is none. */
  read(signal: AbortSignal): Promise<RegistrationState | undefined>;
  /**
   * Makes the API server trust these certificates and call this path, in one write. Writes nothing if both are already so.
   * Returns undefined, without a write, if the installed configuration does not exist.
   * @throws ApiError 409, 422 or 404 if the configuration has changed since it was read.
   */
  publish(
    before: RegistrationState | undefined,
    desired: DesiredRegistration,
    signal: AbortSignal,
  ): Promise<RegistrationState | undefined>;
  /** Deletes a configuration that Wave created. Does nothing to an installed one. */
  withdraw(signal: AbortSignal): Promise<void>;
}

/** The Service at which the API server reaches Wave in the cluster. */
interface WebhookServiceName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Returns the configuration that was installed with Wave and has the name of its Service. Wave writes only the caBundle and the
 * path of the webhooks that point to that Service, by a patch that fails if the object is newer than the read.
 */
export function installedRegistration(client: ApiClient, service: WebhookServiceName): Registration {
  const { name } = service;
  const isOurs = ({ clientConfig }: MutatingWebhook) =>
    clientConfig.service?.name === service.name && clientConfig.service.namespace === service.namespace;
  const path = pathOf(name);
  return {
    name,
    read: async (signal) => stateOf(await getIfExists<StoredConfiguration>(client, { path, signal }), isOurs),
    async publish(before, desired, signal) {
      if (before === undefined) return before;
      const { metadata, webhooks = [] } = before.object;
      const changes = webhooks.flatMap((webhook, index) => (isOurs(webhook) ? changesOf(webhook, index, desired) : []));
      if (changes.length === 0) return before;
      const body = [{ op: "test", path: "/metadata/resourceVersion", value: metadata.resourceVersion }, ...changes];
      const query = { fieldManager: "wave" };
      const object = await client.request<StoredConfiguration>({ method: "PATCH", path, query, body, signal });
      return stateOf(object, isOurs);
    },
    withdraw: async () => {},
  };
}

/** Returns a configuration that Wave creates for this URL and deletes when it stops. */
export function ownRegistration(
  client: ApiClient,
  url: URL,
  { namespaces, compatibility, pinConfig }: Pick<Policy, "namespaces" | "compatibility" | "pinConfig">,
  workloadKinds?: readonly RequestedKind[],
): Registration {
  // The name contains the URL, so that replicas with different URLs overwrite neither each other nor an installed configuration.
  const name = `wave-${url.host.replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "")}`;
  const path = pathOf(name);
  const isOurs = () => true;
  return {
    name,
    read: async (signal) => stateOf(await getIfExists<StoredConfiguration>(client, { path, signal }), isOurs),
    async publish(before, { trusted, token }, signal) {
      const caBundle = trusted ? encode(trusted) : before?.object.webhooks?.[0]?.clientConfig.caBundle;
      const clientConfig = { url: new URL(pathWith(token), url).href, ...(caBundle ? { caBundle } : {}) };
      const wanted = webhookConfiguration({ name, clientConfig, namespaces, compatibility, workloadKinds, pinConfig });
      if (before !== undefined && isDeepStrictEqual(before.object.webhooks, wanted.webhooks)) return before;
      const object = await client.request<StoredConfiguration>({
        method: before ? "PUT" : "POST",
        path: before ? path : pathOf(),
        query: { fieldManager: "wave" },
        body: before ? { ...before.object, webhooks: wanted.webhooks } : wanted,
        signal,
      });
      return stateOf(object, isOurs);
    },
    async withdraw(signal) {
      await client.request({ method: "DELETE", path, signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    },
  };
}

/** Returns the patch operations that correct one webhook. */
function changesOf({ clientConfig }: MutatingWebhook, index: number, { trusted = [], token }: DesiredRegistration) {
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

function encode(bundle: readonly Certificate[]): string {
  return Buffer.from(writeBundle(bundle)).toString("base64");
}

function stateOf(
  object: StoredConfiguration | undefined,
  isOurs: (webhook: MutatingWebhook) => boolean,
): RegistrationState | undefined {
  if (object === undefined) return undefined;
  const ours = (object.webhooks ?? []).filter(isOurs);
  const [first = [], ...others] = ours.map((webhook) => decode(webhook.clientConfig.caBundle));
  const trusted = first.filter(({ fingerprint }) =>
    others.every((bundle) => bundle.some((certificate) => certificate.fingerprint === fingerprint)),
  );
  const [token, ...otherTokens] = new Set(ours.map((webhook) => tokenIn(webhook.clientConfig)));
  return { trusted, token: otherTokens.length > 0 ? undefined : token, webhookCount: ours.length, object };
}

/** Reads a caBundle. A broken one is empty, and Wave then corrects it. */
function decode(caBundle: string | undefined): readonly Certificate[] {
  try {
    return readBundle(Buffer.from(caBundle ?? "", "base64").toString("utf8"));
  } catch {
    return [];
  }
}

/**
 * Returns the same registration, which logs a warning when the API server cannot call Wave through it, and a line when it can
 * again. Each problem is logged once. Without the warning the webhook would run without effect, and no line would say why.
 */
export function warnIfNotRegistered(
  registration: Registration,
  { namespace, name }: WebhookServiceName,
  log: Logger,
): Registration {
  const fields = { configuration: registration.name, service: `${namespace}/${name}` };
  let logged: string | undefined;
  return {
    ...registration,
    async read(signal) {
      const state = await registration.read(signal);
      const problem = problemOf(state);
      if (problem === logged) return state;
      if (problem !== undefined) log.warn(problem, fields);
      else log.info("the MutatingWebhookConfiguration names the webhook again", fields);
      logged = problem;
      return state;
    },
  };
}

/** Returns in one line why the API server does not call Wave through an installed registration; undefined if it does. */
function problemOf(state: RegistrationState | undefined): string | undefined {
  if (state === undefined) return logMessages.webhookUnregistered;
  return state.webhookCount > 0 ? undefined : logMessages.webhookElsewhere;
}
