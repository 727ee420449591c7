import {
  kindPermissions,
  kindsWithPermissions,
  type PermissionCondition,
  type PermissionName,
  type PermissionRole,
  type PermissionRow,
  permissionRows,
} from "../../src/manager/permissions.ts";

const conditions: Readonly<Record<PermissionCondition, string>> = {
  always: "",
  ownersWritten: "or .Values.ownerReferences .Values.migrateLegacy",
  ownersKept: ".Values.ownerReferences",
  pinned: ".Values.pinConfig.enabled",
  csi: ".Values.enableCsiIntegration",
  // The templates include the rules of these roles only if the feature is on.
  leaderElection: "",
  hashKey: "",
  webhooks: "",
  installedWebhook: "",
  ownAuthority: "",
  uninstall: "",
  uninstallOwners: "or .Values.ownerReferences .Values.migrateLegacy",
};

const names: Readonly<Record<PermissionName, string>> = {
  namespaces:
    "{{- with .Values.namespaces }}\n  resourceNames: {{ append . $.Release.Namespace | uniq | toJson }}\n  {{- end }}",
  lease: 'resourceNames: [{{ include "wave.lease" . | toYaml }}]',
  hashKey: "resourceNames: [{{ .Values.hashKeySecret | toYaml }}]",
  webhook: 'resourceNames: [{{ include "wave.webhook" . | toYaml }}]',
  authority: 'resourceNames: [{{ printf "%s-authority" (include "wave.webhook" .) | toYaml }}]',
  deployment: 'resourceNames: [{{ include "wave.fullname" . | toYaml }}]',
  uninstallJob: 'resourceNames: [{{ printf "%s-uninstall" (include "wave.fullname" .) | toYaml }}]',
};

/** Returns templates/_rules.tpl: one template of RBAC rules for each role, from the table of permissions. */
export function permissionRules(head: string): string {
  const roles = [...Map.groupBy(permissionRows, ({ role }) => role)];
  return [`{{- /* ${head} */}}`, ...roles.map(([role, rows]) => roleTemplate(role, rows)), ""].join("\n");
}

function roleTemplate(role: PermissionRole, rows: readonly PermissionRow[]): string {
  const groups = Map.groupBy(rows, ({ resource, name, when }) => `${resource} ${name} ${when}`);
  const rules = [...groups.values()].map(guardedRule);
  const kinds = role === "" ? [kindRules()] : role === "uninstall" ? [uninstallKindRules()] : [];
  return [`{{- define "wave.rules.${role || "workloads"}" -}}`, ...rules, ...kinds, "{{- end }}"].join("\n");
}

function guardedRule(rows: readonly PermissionRow[]): string {
  const [{ resource, name, when }] = rows as readonly [PermissionRow];
  const [plural, ...group] = resource.split(".");
  const reasons = rows.map(({ reason }) => plain(reason)).filter((reason) => !/^as \w+$/.test(reason));
  const rule = [
    ...[...new Set(reasons)].map((reason) => `# ${reason[0]?.toUpperCase()}${reason.slice(1)}.`),
    `- apiGroups: [${group.length === 0 ? '""' : group.join(".")}]`,
    `  resources: [${plural}]`,
    ...(name === undefined ? [] : [`  ${names[name]}`]),
    `  verbs: [${rows.flatMap(({ verbs }) => verbs).join(", ")}]`,
  ].join("\n");
  return conditions[when] === "" ? rule : `{{- if ${conditions[when]} }}\n${rule}\n{{- end }}`;
}

/** Returns the rules for the value workloadKinds. */
function kindRules(): string {
  const [own] = kindPermissions("example.com/any");
  const more = kindsWithPermissions.map((id) => {
    const rules = kindPermissions(id)
      .slice(1)
      .map(({ resource, verbs, reason }) => {
        const [plural, ...group] = resource.split(".");
        return `# ${reason}.\n- apiGroups: [${group.join(".")}]\n  resources: [${plural}]\n  verbs: [${verbs.join(", ")}]`;
      });
    return `{{- if eq (printf "%s.%s" .plural .group) "${id}" }}\n${rules.join("\n")}\n{{- end }}`;
  });
  return [
    '{{- range (include "wave.kinds" . | fromJson).kinds }}',
    "- apiGroups: [{{ toYaml .group }}]",
    "  resources: [{{ toYaml .plural }}]",
    `  verbs: [${own?.verbs.join(", ")}]`,
    ...more,
    "{{- end }}",
  ].join("\n");
}

/** Returns the rules with which the uninstall hook lifts scheduling holds of the kinds in the value workloadKinds. */
function uninstallKindRules(): string {
  return [
    '{{- range (include "wave.kinds" . | fromJson).kinds }}',
    "- apiGroups: [{{ toYaml .group }}]",
    "  resources: [{{ toYaml .plural }}]",
    "  verbs: [list, get, patch]",
    "{{- end }}",
  ].join("\n");
}

/** Returns Markdown as plain text. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}
