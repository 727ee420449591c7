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
  ownersWritten: "`ownerReferences` or `migrateLegacy`",
  ownersKept: "`ownerReferences`",
  pinned: "`pinConfig.enabled`",
  csi: "`enableCsiIntegration`",
  leaderElection: "`leaderElection.enabled` (default)",
  hashKey: "`hashKeySecret`",
  webhooks: "`webhooks.enabled`",
  installedWebhook: "`webhooks.enabled`",
  ownAuthority: "`webhooks.enabled`, with Wave's own certificates",
  uninstall: "",
  uninstallOwners: "`ownerReferences` or `migrateLegacy`",
};

const names: Readonly<Record<PermissionName, string>> = {
  namespaces: "",
  lease: "/wave",
  hashKey: "/wave-hash-key",
  webhook: "/wave-webhook",
  authority: "/wave-webhook-authority",
  deployment: "/wave",
  uninstallJob: "/wave-uninstall",
};

const header = "| role | resource | verbs | reason | only with the value |\n|---|---|---|---|---|\n";

/** Returns docs/security.md with the table of permissions; `page` is the page with any earlier table. */
export function permissionsPage(page: string): string {
  const start = page.indexOf(header);
  if (start < 0) throw new Error("docs/security.md has no table of permissions");
  const end = page.indexOf("\n\n", start);
  return `${page.slice(0, start)}${header}${[...tableRows(), ...kindRows()].join("\n")}${page.slice(end)}`;
}

/** Returns a line for each reason: resources that have a permission for the same reason are in one line. */
function tableRows(): readonly string[] {
  const same = ({ role, verbs, when, ...row }: PermissionRow) =>
    `${role} ${verbs} ${when} ${reasonOf({ role, verbs, when, ...row })}`;
  return [...Map.groupBy(permissionRows, same).values()].map((rows) => {
    const [first] = rows as [PermissionRow];
    const resources = rows.map(({ resource, name }) => `${resource}${name === undefined ? "" : names[name]}`);
    return line(first.role, resources.join(", "), first.verbs, reasonOf(first), conditions[first.when]);
  });
}

/** Returns the reason of a permission. A reason "as configmaps" is that of the same permission for this resource. */
function reasonOf(row: PermissionRow): string {
  const [, resource, rest = ""] = /^as (\w+)(.*)$/.exec(row.reason) ?? [];
  // The page has this limit of RBAC once, above the table.
  if (resource === undefined) return row.reason.replace(/; RBAC cannot limit.*$/, "");
  const other = permissionRows.find(
    (each) =>
      each.resource.replace(/\..*/, "") === resource &&
      each.role === row.role &&
      each.when === row.when &&
      each.verbs.join() === row.verbs.join(),
  );
  if (other === undefined) throw new Error(`no row has the permission of "${row.reason}" for ${row.resource}`);
  return `${reasonOf(other)}${rest}`;
}

/** Returns the rows of the kinds with special permissions, which are also the examples of configured kinds. */
function kindRows(): readonly string[] {
  return kindsWithPermissions.flatMap((id) =>
    kindPermissions(id).map(({ resource, verbs, reason }) => {
      const known = reason.replace(
        /^as statefulsets$/,
        "the same for each [kind](kinds.md): Wave finds, reads and rolls it",
      );
      return line("", resource, verbs, known, `\`workloadKinds\` with ${id}`);
    }),
  );
}

function line(role: string, resource: string, verbs: readonly string[], reason: string, condition: string): string {
  return `| \`${role === "" ? "wave" : `wave-${role}`}\` | ${resource} | ${verbs.join(", ")} | ${reason} | ${condition} |`;
}
