import {
  kindPermissions,
  type PermissionCondition,
  type PermissionName,
  type PermissionRow,
  permissionRows,
  roleScopes,
} from "../../../manager/permissions.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { wantedKinds } from "../../flags/kind-flags.ts";
import { ownershipOf } from "../../flags/run-flags.ts";
import { elects } from "../context/doctor-context.ts";

/** A permission that a Wave needs on objects of one resource. */
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

/** Returns the rows of the permission table that a Wave needs with its flags. */
export function neededPermissions(wave: RunningWave): readonly NeededPermission[] {
  const kinds = (wantedKinds(wave.values) ?? []).flatMap(({ id }) => kindPermissions(id));
  return [
    ...permissionRows.filter(({ when }) => isNeeded[when](wave)),
    ...kinds.map((permission): PermissionRow => ({ ...permission, role: "", when: "always" })),
  ].map((row) => neededPermission(row, wave));
}

const isNeeded: Readonly<Record<PermissionCondition, (wave: RunningWave) => boolean>> = {
  always: () => true,
  ownersWritten: ({ values }) => ownershipOf(values) !== undefined,
  ownersKept: ({ values }) => ownershipOf(values) === "keep",
  // Without it, Wave rolls workloads instead.
  pinned: ({ values }) => values["pin-config"],
  csi: ({ values }) => values["enable-csi-integration"],
  leaderElection: elects,
  hashKey: ({ values }) => values["hash-key-secret"] !== undefined,
  webhooks: ({ values }) => values["enable-webhooks"],
  installedWebhook: ({ values }) => values["enable-webhooks"] && values["webhook-url"] === undefined,
  ownAuthority: ({ values }) => values["enable-webhooks"] && values["webhook-tls-directory"] === undefined,
  // The account of the uninstall hook has these permissions, and not the running Wave.
  uninstall: () => false,
  uninstallOwners: () => false,
};

function neededPermission({ role, resource, name, verbs }: PermissionRow, wave: RunningWave): NeededPermission {
  const [plural = "", ...group] = resource.split(".");
  const objectName = name && nameOf(name, wave);
  return { role, group: group.join("."), resource: plural, name: objectName, verbs, within: scopeOf(role, wave) };
}

function nameOf(name: PermissionName, wave: RunningWave): string | undefined {
  const { values } = wave;
  switch (name) {
    case "namespaces":
      return undefined;
    case "deployment":
      return wave.name;
    case "uninstallJob":
      return `${wave.name}-uninstall`;
    case "lease":
      return values["leader-election-id"];
    case "hashKey":
      return values["hash-key-secret"]?.name;
    case "webhook":
      return values["webhook-service-name"];
    case "authority":
      return `${values["webhook-service-name"]}-authority`;
  }
}

function scopeOf(role: PermissionRow["role"], { values, namespace }: RunningWave): NeededPermission["within"] {
  switch (roleScopes[role]) {
    case "watched":
      return "watched";
    case "cluster":
      return "none";
    case "leaseNamespace":
      return { namespace: values["leader-election-namespace"] ?? namespace };
    case "hashKeyNamespace":
      return { namespace: values["hash-key-secret"]?.namespace ?? namespace };
    case "ownNamespace":
      return { namespace };
  }
}
