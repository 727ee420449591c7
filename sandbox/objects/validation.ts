import { isObject, type Json, type JsonObject, listOf, objectOf, sameJson, stringOf, valueAt } from "./json.ts";
import type { ApiObject } from "./object.ts";
import { matchesLabelSelector } from "./selectors.ts";
import type { Cause } from "./status-error.ts";

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/;

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const qualifiedNameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const dataKeyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Kinds whose names are DNS labels; those of the others are DNS subdomains. */
const labelNamed = new Set(["Namespace", "Service"]);
/** The types of volumes that read configuration, and two others, in the order in which the API server validates them. */
const volumeTypes = ["emptyDir", "hostPath", "secret", "configMap", "projected", "csi"];
const workloads = new Set(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"]);

function wrong(field: string, value: Json | undefined, why: string): Cause {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}` };
}

function missing(field: string, why?: string): Cause {
  return {
    reason: "FieldValueRequired",
    field,
    message: why === undefined ? "Required value" : `Required value: ${why}`,
  };
}

function forbidden(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` };
}

function duplicate(field: string, value: string): Cause {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${JSON.stringify(value)}` };
}

function notFound(field: string, value: string): Cause {
  return { reason: "FieldValueNotFound", field, message: `Not found: ${JSON.stringify(value)}` };
}

/** Returns the mistakes in an object, without regard to its previous version. */
export function mistakesOf(object: ApiObject): Cause[] {
  const causes = nameMistakes(object);
  causes.push(...labelMistakes("metadata.labels", object.metadata.labels));
  for (const annotation of Object.keys(object.metadata.annotations ?? {})) {
    if (!qualifiedName.test(annotation.toLowerCase())) {
      causes.push(wrong("metadata.annotations", annotation, qualifiedNameRule));
    }
  }
  if (object.kind === "ConfigMap" || object.kind === "Secret") causes.push(...dataMistakes(object));
  if (workloads.has(object.kind)) causes.push(...workloadMistakes(object));
  if (object.kind === "Pod") causes.push(...podSpecMistakes("spec", objectOf(object.spec)));
  if (object.kind === "Event") causes.push(...eventMistakes(object));
  return causes;
}

function nameMistakes({ kind, metadata: { name } }: ApiObject): Cause[] {
  if (name === "") return [missing("metadata.name", "name or generateName is required")];
  const [rule, text] = labelNamed.has(kind) ? ([label, labelRule] as const) : ([subdomain, subdomainRule] as const);
  if (!rule.test(name)) return [wrong("metadata.name", name, text)];
  return name.length > 253 ? [wrong("metadata.name", name, "must be no more than 253 bytes")] : [];
}

function labelMistakes(field: string, labels: { readonly [label: string]: string } | undefined): Cause[] {
  return Object.entries(labels ?? {}).flatMap(([name, value]) => [
    ...(qualifiedName.test(name) ? [] : [wrong(field, name, qualifiedNameRule)]),
    ...(labelValue.test(value) ? [] : [wrong(field, value, labelValueRule)]),
  ]);
}

/** Names the key, never the value. */
function dataMistakes(object: ApiObject): Cause[] {
  const mistakes = ["data", "binaryData"].flatMap((field) =>
    Object.keys(objectOf(object[field]))
      .filter((key) => !/^[-._a-zA-Z0-9]{1,253}$/.test(key))
      .map((key) => wrong(`${field}[${key}]`, key, dataKeyRule)),
  );
  const binary = objectOf(object.binaryData);
  const twice = Object.keys(objectOf(object.data)).filter((key) => Object.hasOwn(binary, key));
  return [...mistakes, ...twice.map((key) => wrong(`data[${key}]`, key, "duplicate of key present in binaryData"))];
}

function workloadMistakes(object: ApiObject): Cause[] {
  const selector = valueAt(object, "spec", "selector");
  const labels = valueAt(object, "spec", "template", "metadata", "labels");
  const causes: Cause[] = [];
  if (!isObject(selector)) causes.push(missing("spec.selector"));
  else if (sameJson(selector, {})) {
    causes.push(wrong("spec.selector", selector, `empty selector is invalid for ${object.kind.toLowerCase()}`));
  }
  if (!isObject(selector) || !matchesLabelSelector(selector, objectOf(labels))) {
    causes.push(wrong("spec.template.metadata.labels", labels, "`selector` does not match template `labels`"));
  }
  const replicas = valueAt(object, "spec", "replicas");
  if (typeof replicas === "number" && replicas < 0) {
    causes.push(wrong("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  return [...causes, ...podSpecMistakes("spec.template.spec", objectOf(valueAt(object, "spec", "template", "spec")))];
}

/** Returns the mistakes in the pod spec at `path`. As on the API server, no container can mount a volume that is itself a mistake. */
function podSpecMistakes(path: string, spec: JsonObject): Cause[] {
  const volumes = listOf(spec.volumes).map((item, index) => {
    const volume = objectOf(item);
    return { name: stringOf(volume.name), mistakes: volumeMistakes(`${path}.volumes[${index}]`, volume) };
  });
  const valid = new Set(volumes.filter(({ mistakes }) => mistakes.length === 0).map(({ name }) => name));
  return [...volumes.flatMap(({ mistakes }) => mistakes), ...containerMistakes(path, spec, valid)];
}

function volumeMistakes(path: string, volume: JsonObject): Cause[] {
  const [, ...more] = volumeTypes.filter((type) => type in volume);
  return more.map((type) => forbidden(`${path}.${type}`, "may not specify more than 1 volume type"));
}

/** Returns the mistakes in all containers. Their names are unique, also among init containers. */
function containerMistakes(path: string, spec: JsonObject, volumes: ReadonlySet<string>): Cause[] {
  if (listOf(spec.containers).length === 0) return [missing(`${path}.containers`)];
  const names = new Set<string>();
  return ["containers", "initContainers"].flatMap((field) =>
    listOf(spec[field]).flatMap((item, index) => {
      const container = objectOf(item);
      const at = `${path}.${field}[${index}]`;
      const causes: Cause[] = [];
      const name = stringOf(container.name);
      if (name === "") causes.push(missing(`${at}.name`));
      else if (names.has(name)) causes.push(duplicate(`${at}.name`, name));
      names.add(name);
      if (stringOf(container.image) === "") causes.push(missing(`${at}.image`));
      causes.push(...variableMistakes(`${at}.env`, container));
      listOf(container.volumeMounts).forEach((mount, position) => {
        const mounted = stringOf(objectOf(mount).name);
        if (!volumes.has(mounted)) causes.push(notFound(`${at}.volumeMounts[${position}].name`, mounted));
      });
      return causes;
    }),
  );
}

/** Each variable has a value, or one source of its value. */
function variableMistakes(path: string, container: JsonObject): Cause[] {
  return listOf(container.env).flatMap((item, index) => {
    const { value, valueFrom } = objectOf(item);
    const sources = Object.keys(objectOf(valueFrom)).length;
    const why =
      stringOf(value) !== "" && sources > 0
        ? "may not be specified when `value` is not empty"
        : sources > 1 && "may not have more than one field specified at a time";
    return why ? [wrong(`${path}[${index}].valueFrom`, "", why)] : [];
  });
}

function eventMistakes({ metadata, involvedObject }: ApiObject): Cause[] {
  const namespace = stringOf(objectOf(involvedObject).namespace) || "default";
  if (namespace === metadata.namespace) return [];
  return [wrong("involvedObject.namespace", namespace, "does not match event.namespace")];
}

const statefulSetRule =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const statefulSetMutable = new Set([
  ...["replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"],
  ...["persistentVolumeClaimRetentionPolicy", "minReadySeconds"],
]);

/** Returns the mistakes in the change from `before` to `after`: changes of immutable fields. */
export function mistakesInChange(before: ApiObject, after: ApiObject): Cause[] {
  switch (after.kind) {
    case "ConfigMap":
    case "Secret":
      return immutableMistakes(before, after);
    case "StatefulSet": {
      const old = objectOf(before.spec);
      const now = objectOf(after.spec);
      const fields = new Set([...Object.keys(old), ...Object.keys(now)]);
      const changed = [...fields].some((field) => !statefulSetMutable.has(field) && !sameJson(old[field], now[field]));
      return changed ? [forbidden("spec", statefulSetRule)] : [];
    }
    case "Deployment":
    case "DaemonSet":
    case "ReplicaSet": {
      const selector = valueAt(after, "spec", "selector");
      if (sameJson(valueAt(before, "spec", "selector"), selector)) return [];
      return [wrong("spec.selector", selector, "field is immutable")];
    }
    default:
      return [];
  }
}

function immutableMistakes(before: ApiObject, after: ApiObject): Cause[] {
  const why = "field is immutable when `immutable` is set";
  const causes: Cause[] = [];
  if (before.kind === "Secret" && !sameJson(before.type, after.type))
    causes.push(wrong("type", after.type, "field is immutable"));
  if (before.immutable !== true) return causes;
  if (after.immutable !== true) causes.push(forbidden("immutable", why));
  for (const field of ["data", "binaryData"]) {
    if (!sameJson(before[field], after[field])) causes.push(forbidden(field, why));
  }
  return causes;
}
