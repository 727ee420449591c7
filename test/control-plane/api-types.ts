import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A definition of the API server's `/openapi/v2`. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/** The kinds that Wave and its tests use. The types of their fields are added to them. */
const roots = [
  "io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration",
  "io.k8s.api.apps.v1.DaemonSet",
  "io.k8s.api.apps.v1.Deployment",
  "io.k8s.api.apps.v1.ReplicaSet",
  "io.k8s.api.apps.v1.StatefulSet",
  "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
  "io.k8s.api.authorization.v1.SubjectAccessReview",
  "io.k8s.api.coordination.v1.Lease",
  "io.k8s.api.core.v1.ConfigMap",
  "io.k8s.api.core.v1.Event",
  "io.k8s.api.core.v1.Namespace",
  "io.k8s.api.core.v1.Pod",
  "io.k8s.api.core.v1.Secret",
  "io.k8s.api.core.v1.Service",
  "io.k8s.api.discovery.v1.EndpointSlice",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
];

type Definitions = Readonly<Record<string, Schema>>;

const head = `// Made by \`bin/node test/control-plane/write-api-types.ts\` from the OpenAPI of the API server that the tests run on.
// The fields are documented at https://kubernetes.io/docs/reference/kubernetes-api/.
`;

/**
 * Returns a module of TypeScript types for the kinds that Wave uses, from the definitions of `/openapi/v2`. Throws an Error if two types
 * would have the same name.
 */
function apiTypes(definitions: Definitions): string {
  const found = usedDefinitions(definitions);
  const names = [...found.keys()].map(shortName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two types would be named ${twice}`);
  const types = [...found].map(([name, schema]) => declaration(shortName(name), schema));
  return `${head}\n${types.sort().join("\n\n")}\n`;
}

/** Returns a module with the keys of the lists in these kinds, from the same definitions. */
function listKeys(definitions: Definitions): string {
  const rules = new Map<string, Set<string>>();
  for (const { properties = {} } of usedDefinitions(definitions).values()) {
    for (const [field, schema] of Object.entries(properties)) {
      if (schema["x-kubernetes-list-type"] !== "map") continue;
      const patch = schema["x-kubernetes-patch-strategy"]?.includes("merge")
        ? `patch: ${JSON.stringify(schema["x-kubernetes-patch-merge-key"])}, `
        : "";
      const apply = (schema["x-kubernetes-list-map-keys"] ?? []).map((key) => JSON.stringify(key)).join(", ");
      rules.set(field, (rules.get(field) ?? new Set()).add(`{ ${patch}apply: [${apply}] }`));
    }
  }
  const rows = [...rules].map(([field, texts]) => `  ${field}: ${arrayText([...texts].sort())},`);
  return `${head}${listKeysHead}${rows.sort().join("\n")}\n};\n`;
}

function arrayText(items: readonly string[]): string {
  return items.length === 1 ? `[${items[0]}]` : `[\n${items.map((item) => `    ${item},\n`).join("")}  ]`;
}

const listKeysHead = `
/** The keys that identify the items of a list. */
export interface ListKeys {
  /** The key of a strategic merge patch; absent if such a patch replaces the list. */
  readonly patch?: string;
  /** The keys of server-side apply. */
  readonly apply: readonly string[];
}

/** The lists whose items have keys, by the name of the field. The items of two lists with one name have different keys. */
export const listKeys: { readonly [field: string]: readonly ListKeys[] } = {
`;

/** Returns the definitions of the kinds that Wave uses, and of their fields. Throws an Error if a kind is missing. */
function usedDefinitions(definitions: Definitions): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    const schema = definitions[name];
    if (schema === undefined) throw new Error(`/openapi/v2 has no ${name}`);
    found.set(name, schema);
    for (const [, ref = ""] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g)) open.push(ref);
  }
  return found;
}

/** Returns the generated files of `types/` by name, from the API server of a kubeconfig, read with `kubectl`. */
export async function generatedTypes(kubectl: string, kubeconfig: string): Promise<Readonly<Record<string, string>>> {
  const args = ["--kubeconfig", kubeconfig, "get", "--raw", "/openapi/v2"];
  const { stdout } = await run(kubectl, args, { maxBuffer: 2 ** 26 });
  const { definitions } = JSON.parse(stdout) as { readonly definitions: Definitions };
  return { "kubernetes.d.ts": apiTypes(definitions), "list-keys.ts": listKeys(definitions) };
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function declaration(name: string, schema: Schema): string {
  if (schema.properties === undefined) return `export type ${name} = ${typeOf(schema)};`;
  const [kind] = schema["x-kubernetes-group-version-kind"] ?? [];
  const fields = Object.entries(schema.properties).map(([field, of]) => {
    const optional = schema.required?.includes(field) ? "" : "?";
    const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field);
    return `  ${key}${optional}: ${kind === undefined ? typeOf(of) : typeOfKind(field, of, kind)};`;
  });
  return [`export interface ${name} {`, ...fields, "}"].join("\n");
}

/** `apiVersion` and `kind` of an object have one value each. */
function typeOfKind(
  field: string,
  schema: Schema,
  { group, version, kind }: { group: string; version: string; kind: string },
) {
  if (field === "apiVersion") return JSON.stringify(group === "" ? version : `${group}/${version}`);
  return field === "kind" ? JSON.stringify(kind) : typeOf(schema);
}

function typeOf({ $ref, type, format, items, additionalProperties }: Schema): string {
  if ($ref !== undefined) return shortName($ref);
  switch (type) {
    case "array":
      return `${typeOf(items ?? {})}[]`.replace(/^(.* \| .*)\[\]$/, "($1)[]");
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "string":
      return format === "int-or-string" ? "number | string" : "string";
    case "object":
      return additionalProperties === undefined ? "object" : `{ [key: string]: ${typeOf(additionalProperties)} }`;
    default:
      return "unknown";
  }
}
