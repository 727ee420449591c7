import { type Json, type JsonObject, listOf, objectOf, stringOf, valueAt } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { formatLabelSelector } from "../objects/selectors.ts";

/** One column of `kubectl get`; those of priority 1 show with `-o wide`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer";
  readonly priority: 0 | 1;
  /** The cell, given the wall clock in milliseconds. */
  readonly cell: (object: ApiObject, now: number) => Json;
}

function column(name: string, cell: Column["cell"], type: Column["type"] = "string"): Column {
  return { name, type, priority: 0, cell };
}

function integer(name: string, ...path: readonly string[]): Column {
  return column(name, (object) => numberAt(object, ...path), "integer");
}

function wide(name: string, cell: Column["cell"]): Column {
  return { name, type: "string", priority: 1, cell };
}

function numberAt(object: ApiObject, ...path: readonly string[]): number {
  return Number(valueAt(object, ...path) ?? 0);
}

function textAt(object: ApiObject, ...path: readonly string[]): string {
  return stringOf(valueAt(object, ...path));
}

/** A span of time as kubectl shows it: `5s`, `3m12s`, `4h`, `12d`. */
function humanDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  const rest = (value: number, unit: string) => (value === 0 ? "" : `${value}${unit}`);
  if (minutes < 10) return `${minutes}m${rest(seconds % 60, "s")}`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return `${hours}h${rest(minutes % 60, "m")}`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  return days < 8 ? `${days}d${rest(hours % 24, "h")}` : `${days}d`;
}

function since(time: Json | undefined, now: number): string {
  return typeof time === "string" ? humanDuration(now - Date.parse(time)) : "<unknown>";
}

const name = column("Name", ({ metadata }) => metadata.name);
const age = column("Age", ({ metadata }, now) => since(metadata.creationTimestamp, now));
const dataCount = column("Data", (object) => {
  return Object.keys(objectOf(object.data)).length + Object.keys(objectOf(object.binaryData)).length;
});
const status = column("Status", (object) => textAt(object, "status", "phase"));

function containersOf(object: ApiObject): readonly JsonObject[] {
  return listOf(valueAt(object, "spec", "template", "spec", "containers")).map(objectOf);
}

const containers = wide("Containers", (object) =>
  containersOf(object)
    .map((item) => stringOf(item.name))
    .join(","),
);
const images = wide("Images", (object) =>
  containersOf(object)
    .map((item) => stringOf(item.image))
    .join(","),
);
const selector = wide("Selector", (object) => formatLabelSelector(objectOf(valueAt(object, "spec", "selector"))));

function readyOfDesired(object: ApiObject): string {
  return `${numberAt(object, "status", "readyReplicas")}/${numberAt(object, "spec", "replicas")}`;
}

/** What a Pod's Status column says: its phase, or better what its containers wait for. */
function podStatus(pod: ApiObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return "Terminating";
  for (const container of listOf(valueAt(pod, "status", "containerStatuses"))) {
    const reason = valueAt(container, "state", "waiting", "reason");
    if (typeof reason === "string") return reason;
  }
  return textAt(pod, "status", "phase");
}

function podReady(pod: ApiObject): string {
  const statuses = listOf(valueAt(pod, "status", "containerStatuses"));
  const ready = statuses.filter((container) => objectOf(container).ready === true).length;
  return `${ready}/${listOf(valueAt(pod, "spec", "containers")).length}`;
}

const columns: { readonly [kind: string]: readonly Column[] } = {
  ConfigMap: [name, dataCount, age],
  Secret: [name, column("Type", (object) => stringOf(object.type)), dataCount, age],
  Namespace: [name, status, age],
  Node: [name, column("Status", () => "Ready"), column("Roles", () => "<none>"), age],
  Pod: [
    name,
    column("Ready", podReady),
    column("Status", podStatus),
    column("Restarts", () => "0"),
    age,
    wide("IP", (object) => textAt(object, "status", "podIP") || "<none>"),
    wide("Node", (object) => textAt(object, "spec", "nodeName") || "<none>"),
  ],
  Service: [
    name,
    column("Type", (object) => textAt(object, "spec", "type")),
    column("Cluster-IP", (object) => textAt(object, "spec", "clusterIP") || "<none>"),
    column("External-IP", () => "<none>"),
    column("Port(s)", (object) => {
      const ports = listOf(valueAt(object, "spec", "ports")).map(objectOf);
      return ports.map(({ port, protocol }) => `${port}/${protocol}`).join(",") || "<none>";
    }),
    age,
  ],
  Event: [
    column("Last Seen", (event, now) => {
      return since(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp, now);
    }),
    column("Type", (event) => stringOf(event.type)),
    column("Reason", (event) => stringOf(event.reason)),
    column("Object", (event) => {
      return `${textAt(event, "involvedObject", "kind").toLowerCase()}/${textAt(event, "involvedObject", "name")}`;
    }),
    wide("Source", (event) => textAt(event, "source", "component") || stringOf(event.reportingComponent)),
    column("Message", (event) => stringOf(event.message).trim()),
    wide("Count", (event) => String(event.count ?? 1)),
    wide("Name", ({ metadata }) => metadata.name),
  ],
  Deployment: [
    name,
    column("Ready", readyOfDesired),
    column("Up-to-date", (object) => String(numberAt(object, "status", "updatedReplicas"))),
    column("Available", (object) => String(numberAt(object, "status", "availableReplicas"))),
    ...[age, containers, images, selector],
  ],
  ReplicaSet: [
    name,
    integer("Desired", "spec", "replicas"),
    integer("Current", "status", "replicas"),
    integer("Ready", "status", "readyReplicas"),
    ...[age, containers, images, selector],
  ],
  StatefulSet: [name, column("Ready", readyOfDesired), age, containers, images],
  DaemonSet: [
    name,
    integer("Desired", "status", "desiredNumberScheduled"),
    integer("Current", "status", "currentNumberScheduled"),
    integer("Ready", "status", "numberReady"),
    integer("Up-to-date", "status", "updatedNumberScheduled"),
    integer("Available", "status", "numberAvailable"),
    column("Node Selector", () => "<none>"),
    ...[age, containers, images, selector],
  ],
  ControllerRevision: [
    name,
    column("Controller", ({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
      return owner === undefined ? "<none>" : `${owner.kind.toLowerCase()}.apps/${owner.name}`;
    }),
    column("Revision", ({ revision }) => String(revision ?? 0)),
    age,
  ],
  Lease: [name, column("Holder", (object) => textAt(object, "spec", "holderIdentity")), age],
  MutatingWebhookConfiguration: [name, column("Webhooks", ({ webhooks }) => listOf(webhooks).length, "integer"), age],
};

/** Returns the table columns of a kind. A kind without an entry has only the name and the age. */
export function columnsOf(kind: string): readonly Column[] {
  return columns[kind] ?? [name, age];
}
