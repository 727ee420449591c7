/** The type of a value, as far as Wave reads it. */
type Shape =
  | "string"
  | "boolean"
  | { readonly items: Shape }
  | { readonly values: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

const fields = (of: Readonly<Record<string, Shape>>): Shape => ({ fields: of });
const listOf = (of: Readonly<Record<string, Shape>>): Shape => ({ items: fields(of) });

const whole = fields({ name: "string", optional: "boolean" });
const one = fields({ name: "string", key: "string", optional: "boolean" });
const items = listOf({ key: "string", path: "string" });
const files = fields({ name: "string", optional: "boolean", items });
const container = listOf({
  envFrom: listOf({ configMapRef: whole, secretRef: whole }),
  env: listOf({ valueFrom: fields({ configMapKeyRef: one, secretKeyRef: one }) }),
  volumeMounts: listOf({ name: "string", subPath: "string" }),
});

/** https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#podtemplatespec-v1-core */
const podTemplate = fields({
  metadata: fields({ annotations: { values: "string" } }),
  spec: fields({
    schedulerName: "string",
    initContainers: container,
    containers: container,
    volumes: listOf({
      name: "string",
      configMap: files,
      secret: fields({ secretName: "string", optional: "boolean", items }),
      projected: fields({ sources: listOf({ configMap: files, secret: files }) }),
      csi: fields({ driver: "string", volumeAttributes: { values: "string" } }),
    }),
  }),
});

const claims = listOf({ metadata: fields({ name: "string" }) });

/**
 * Validates a pod template that no API server has validated, such as that of a custom resource. Returns the template with null fields
 * removed, because decoders treat null as absent (https://pkg.go.dev/encoding/json#Unmarshal). Returns undefined if the template is missing.
 * Throws an Error that names the path, but quotes no value, if a field that Wave reads has another type.
 */
export function readPodTemplate(value: unknown, path: string): unknown {
  return read(podTemplate, value, path);
}

/** Validates `volumeClaimTemplates` in the same way as {@link readPodTemplate}. */
export function readClaimTemplates(value: unknown): unknown {
  return read(claims, value, "spec.volumeClaimTemplates");
}

function read(shape: Shape, value: unknown, path: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof shape === "string") return typeof value === shape ? value : isNot(`a ${shape}`, path);
  if ("items" in shape) {
    if (!Array.isArray(value)) return isNot("a list", path);
    return value.map((each, i) => read(shape.items, each, `${path}[${i}]`) ?? isNot("an object", `${path}[${i}]`));
  }
  if (typeof value !== "object" || Array.isArray(value)) return isNot("an object", path);
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const inside =
      "values" in shape ? shape.values : Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (inside === undefined) return [[name, each]];
    // The keys of a map are user data, so the message does not quote them.
    const found = read(inside, each, "values" in shape ? `a value of ${path}` : `${path}.${name}`);
    return found === undefined ? [] : [[name, found]];
  });
  return Object.fromEntries(entries);
}

function isNot(what: string, path: string): never {
  throw new Error(`${path} is not ${what}`);
}
