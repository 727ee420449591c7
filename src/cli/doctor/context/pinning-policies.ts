import { pinnedAnnotation, pinnedCopyLabel } from "../../../domain/references/annotations.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { isNotFound } from "../../../kube/api/errors.ts";
import { type Resource, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../../cluster/requests/list-all.ts";
import { type ReadResult, tryRead } from "../../cluster/requests/read-result.ts";

/** A policy of the API server for pinned configuration. */
export interface PinningPolicy {
  /** The namespaces to which it applies; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** The bindings that put it into effect. */
  readonly bindings: readonly string[];
}

/** The policies for pinned configuration. Each Wave that watches some namespaces has its own. */
export interface PinningPolicies {
  /** The MutatingAdmissionPolicies that point new Pods at their copies. */
  readonly pointing: ReadResult<readonly PinningPolicy[]>;
  /** The ValidatingAdmissionPolicies that protect copies. */
  readonly protecting: ReadResult<readonly PinningPolicy[]>;
}

interface AdmissionPolicy extends KubeObject {
  readonly spec?: {
    readonly matchConstraints?: {
      readonly namespaceSelector?: { readonly matchExpressions?: readonly { readonly values?: readonly string[] }[] };
      readonly objectSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    };
    readonly matchConditions?: readonly { readonly expression: string }[];
  };
}

interface PolicyBinding extends KubeObject {
  readonly spec?: { readonly policyName?: string };
}

/** Finds the policies by what they do, because kustomize may rename them. */
export async function readPinningPolicies(client: ApiClient): Promise<PinningPolicies> {
  const [pointing, protecting] = await Promise.all([
    readPolicies(
      client,
      resources.mutatingAdmissionPolicies,
      resources.mutatingAdmissionPolicyBindings,
      ({ spec }) =>
        spec?.matchConditions?.some(({ expression }) => expression.includes(`'${pinnedAnnotation}'`)) ?? false,
    ),
    readPolicies(
      client,
      resources.validatingAdmissionPolicies,
      resources.validatingAdmissionPolicyBindings,
      ({ spec }) => spec?.matchConstraints?.objectSelector?.matchLabels?.[pinnedCopyLabel] === "true",
    ),
  ]);
  return { pointing, protecting };
}

async function readPolicies(
  client: ApiClient,
  policies: Resource,
  bindings: Resource,
  isWanted: (policy: AdmissionPolicy) => boolean,
): Promise<ReadResult<readonly PinningPolicy[]>> {
  const found = await tryRead(`list ${policies.plural}`, () =>
    listServed<AdmissionPolicy, AdmissionPolicy>(client, policies, (policy) => (isWanted(policy) ? policy : undefined)),
  );
  if ("unread" in found) return found;
  const bound = await tryRead(`list ${bindings.plural}`, () =>
    listServed<PolicyBinding, { readonly name: string; readonly policy: string | undefined }>(
      client,
      bindings,
      ({ metadata, spec }) => ({ name: metadata.name, policy: spec?.policyName }),
    ),
  );
  if ("unread" in bound) return bound;
  return {
    read: found.read.map(({ metadata, spec }) => ({
      namespaces: spec?.matchConstraints?.namespaceSelector?.matchExpressions?.flatMap(({ values = [] }) => values),
      bindings: bound.read.flatMap(({ name, policy }) => (policy === metadata.name ? [name] : [])),
    })),
  };
}

/** Lists objects of a kind; none if the API server does not serve the kind. */
async function listServed<T extends KubeObject, K>(
  client: ApiClient,
  resource: Resource,
  keep: (object: T) => K | undefined,
): Promise<readonly K[]> {
  try {
    return await listAll<T, K>(client, resource, {}, keep);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
