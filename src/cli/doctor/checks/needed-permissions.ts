import { knownKinds } from "../../../domain/model/kinds/known-kinds.ts";
import { rolloutStrategies } from "../../../domain/model/rollout-strategy.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { RunningWave } from "../../cluster/running-wave.ts";
import { builtInArgumentKinds } from "../../command/workload-argument.ts";
import { wantedKinds } from "../../flags/kind-flags.ts";
import { ownershipOf } from "../../flags/run-flags.ts";
import { elects } from "../context/doctor-context.ts";

/** A permission that Wave needs on objects of one kind: a row of docs/permissions.md. */
export interface NeededPermission {
  /** The suffix of the role in the chart; "" for the role with the name of the release. */
  readonly role: string;
  readonly group: string;
  readonly resource: string;
  /** Undefined: all objects of the kind. */
  readonly name: string | undefined;
  readonly verbs: readonly string[];
  /** The scope: each watched namespace, no namespace, or one namespace. */
  readonly within: "watched" | "none" | { readonly namespace: string };
}

/** Returns the permissions that a Wave needs with its flags. A test compares them with docs/permissions.md. */
export function neededPermissions(wave: RunningWave): readonly NeededPermission[] {
  return [
    ...always(),
    ...(wave.values["enable-csi-integration"] ? forClasses() : []),
    ...(wantedKinds(wave.values) ?? []).flatMap(({ id }) => [need("", id, "get list watch patch"), ...forStrategy(id)]),
    ...(elects(wave) ? forElection(wave) : []),
    ...forOwners(wave),
    ...forHashKey(wave),
    ...(wave.values["enable-webhooks"] ? forWebhook(wave) : []),
  ];
}

function need(
  role: string,
  resource: string,
  verbs: string,
  within: NeededPermission["within"] = "watched",
  name?: string,
): NeededPermission {
  const [plural = "", ...group] = resource.split(".");
  return { role, group: group.join("."), resource: plural, name, verbs: verbs.split(" "), within };
}

function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, apiVersion.lastIndexOf("/"));
}

function always(): readonly NeededPermission[] {
  return [
    need("", "configmaps", "list watch get"),
    need("", "secrets", "list watch get"),
    ...builtInArgumentKinds.map(({ resource }) =>
      need("", `${resource.plural}.${groupOf(resource.apiVersion)}`, "list watch get patch"),
    ),
    need("namespaces", "namespaces", "list watch", "none"),
    need("", "events", "create patch"),
  ];
}

function forClasses(): readonly NeededPermission[] {
  const { plural, apiVersion } = resources.secretProviderClassPodStatuses;
  return [need("", `${plural}.${groupOf(apiVersion)}`, "list watch")];
}

/** Returns the additional permissions for the rollout strategy of a kind. */
function forStrategy(id: string): readonly NeededPermission[] {
  const { permissions } = rolloutStrategies[knownKinds[id]?.strategy ?? "template"];
  return permissions.map(({ resource, verbs }) => need("", resource ?? id, verbs.join(" ")));
}

function forOwners(wave: RunningWave): readonly NeededPermission[] {
  const ownership = ownershipOf(wave.values);
  if (ownership === undefined) return [];
  return [
    need("", "configmaps", "patch"),
    need("", "secrets", "patch"),
    ...(ownership === "keep" ? [need("namespaces", "namespaces", "get", "none")] : []),
  ];
}

function forElection(wave: RunningWave): readonly NeededPermission[] {
  const within = { namespace: wave.values["leader-election-namespace"] ?? wave.namespace };
  const lease = wave.values["leader-election-id"];
  return [
    need("leader-election", "leases.coordination.k8s.io", "get update", within, lease),
    need("leader-election", "leases.coordination.k8s.io", "create", within),
    need("leader-election", "events", "create patch", within),
  ];
}

function forHashKey(wave: RunningWave): readonly NeededPermission[] {
  const secret = wave.values["hash-key-secret"];
  return secret === undefined ? [] : keptSecret("hash-key", secret.namespace, secret.name);
}

function forWebhook(wave: RunningWave): readonly NeededPermission[] {
  const service = wave.values["webhook-service-name"];
  const configurations = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
  const outside = wave.values["webhook-url"] !== undefined;
  return [
    need("webhook", "pods", "list delete"),
    ...(outside ? [] : [need("webhook-configuration", configurations, "get list watch patch", "none", service)]),
    ...(wave.values["webhook-tls-directory"] === undefined
      ? keptSecret("webhook-authority", wave.namespace, `${service}-authority`)
      : []),
  ];
}

function keptSecret(role: string, namespace: string, name: string): readonly NeededPermission[] {
  return [
    need(role, "secrets", "get list watch", { namespace }, name),
    need(role, "secrets", "update", { namespace }, name),
    need(role, "secrets", "create", { namespace }),
  ];
}
