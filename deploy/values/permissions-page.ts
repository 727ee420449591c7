import {
  kindPermissions,
  kindsWithPermissions,
  type PermissionCondition,
  type PermissionName,
  type PermissionRow,
  permissionRows,
} from "../../src/manager/permissions.ts";

const conditions: Readonly<Record<PermissionCondition, string>> = {
  always: "",
  ownersWritten: "Only with the value `ownerReferences` or `migrateLegacy`",
  ownersKept: "Only with the value `ownerReferences`",
  pinned: "Only with the value `pinConfig.enabled`",
  csi: "Only with the value `enableCsiIntegration`",
  leaderElection: "Only with the value `leaderElection.enabled` (default)",
  hashKey: "Only with the value `hashKeySecret`",
  webhooks: "Only with the value `webhooks.enabled`",
  installedWebhook: "Only with the value `webhooks.enabled`",
  ownAuthority: "Only with the value `webhooks.enabled`, and not if the certificates come from cert-manager or files",
};

const names: Readonly<Record<PermissionName, string>> = {
  namespaces: "",
  lease: "/wave",
  hashKey: "/wave-hash-key",
  webhook: "/wave-webhook",
  authority: "/wave-webhook-authority",
};

const header = "| role | resource | verbs | reason |\n|---|---|---|---|\n";

/** Returns docs/permissions.md with the table of permissions; `page` is the page with any earlier table. */
export function permissionsPage(page: string): string {
  const start = page.indexOf(header);
  if (start < 0) throw new Error("docs/permissions.md has no table of permissions");
  const end = page.indexOf("\n\n", start);
  return `${page.slice(0, start)}${header}${[...permissionRows.map(tableRow), ...kindRows()].join("\n")}${page.slice(end)}`;
}

function tableRow({ role, resource, name, verbs, when, reason }: PermissionRow): string {
  const condition = conditions[when] === "" ? "" : `. ${conditions[when]}`;
  return line(role, `${resource}${name === undefined ? "" : names[name]}`, verbs, `${reason}${condition}`);
}

/** Returns the rows of the kinds with special permissions, which are also the examples of configured kinds. */
function kindRows(): readonly string[] {
  return kindsWithPermissions.flatMap((id) =>
    kindPermissions(id).map(({ resource, verbs, reason }, index) => {
      const condition = `Only if the value \`workloadKinds\` contains ${id}`;
      const example = index === 0 ? ". Each other [kind](kinds.md) in that value needs the same permissions" : "";
      return line("", resource, verbs, `${reason}. ${condition}${example}`);
    }),
  );
}

function line(role: string, resource: string, verbs: readonly string[], reason: string): string {
  return `| \`${role === "" ? "wave" : `wave-${role}`}\` | ${resource} | ${verbs.join(", ")} | ${reason} |`;
}
