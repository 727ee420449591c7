import { flagValues } from "./flag-values.ts";
import {
  names,
  object,
  objects,
  optionalDuration,
  optionalName,
  optionalPrometheusDuration,
  text,
  texts,
  toggle,
} from "./schemas.ts";
import type { Json, JsonSchema, Value } from "./value.ts";

/** Flags with which objects of the chart must agree; their values see to that. */
const installedWith =
  "^--(namespaces|hash-key-secret|enable-webhooks|webhook-[a-z-]+|leader-election(-id|-namespace)?|metrics-bind-address|health-probe-bind-address|kubeconfig|context)(=|$)";

type Row = readonly [path: string, defaultValue: Json, schema: JsonSchema, help: string];

function section(name: string, ...rows: readonly Row[]): readonly Value[] {
  return rows.map(([path, value, schema, help]) => ({ path, section: name, default: value, schema, help }));
}

const pods = section(
  "Image and Pods",
  [
    "image.repository",
    "wave",
    { type: "string", pattern: "^[^\\s@]+$" },
    "Where your registry has what deploy/image/Dockerfile makes, without a tag; none is published.",
  ],
  ["image.tag", "", { type: "string", pattern: "^[^\\s:@]*$" }, "Empty: the chart's appVersion."],
  [
    "image.digest",
    "",
    { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
    "Such as sha256:… of 64 hexadecimal digits; it wins over the tag.",
  ],
  ["image.pullPolicy", "IfNotPresent", { enum: ["Always", "IfNotPresent", "Never"] }, "When nodes pull it."],
  ["image.name", "", text, "What the chart of Wave 0.11 called the repository; used where that is not set."],
  [
    "imagePullSecrets",
    [],
    names,
    "Secrets to pull the image with, by name or as `{name: …}`; added to those of `global`.",
  ],
  ["global.imagePullSecrets", [], names, "The same, also for other charts of one parent."],
  [
    "replicas",
    2,
    { type: "integer", minimum: 0 },
    "One of them writes, the others answer admission and take over at once.",
  ],
  ["pdb.enabled", true, toggle, "A PodDisruptionBudget that lets one go at a time, where there are several replicas."],
  [
    "resources",
    { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
    object,
    "Of each replica. Memory: below 90 MiB with 50,000 Secrets and 2,000 workloads, measured in docs/performance.md. With many more raise the limit, or Wave is killed when it starts.",
  ],
  ["nodeSelector", {}, texts, "Labels of the nodes that Pods may run on."],
  ["tolerations", [], objects, "Taints of nodes that Pods tolerate."],
  ["affinity", {}, object, "Which nodes and neighbours Pods want."],
  [
    "topologySpreadConstraints",
    [],
    objects,
    "How Pods are spread; what has no labelSelector gets that of Wave's Pods. Empty: over nodes, where that can be.",
  ],
  ["priorityClassName", "", text, "Such as system-cluster-critical."],
  ["securityContext", { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } }, object, "Of Pods."],
  [
    "containerSecurityContext",
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
    object,
    "Of the container. With these two Pods run in a namespace whose Pod Security is `restricted`.",
  ],
  ["extraEnv", [], objects, "More environment variables of the container."],
  ["extraVolumes", [], objects, "More volumes of Pods."],
  ["extraVolumeMounts", [], objects, "Where the container has them."],
  [
    "extraArgs",
    [],
    { type: "array", items: { type: "string", pattern: "^--[a-z]", not: { pattern: installedWith } } },
    "Arguments as they are, after all others. Each flag of `wave run` is a value, see below.",
  ],
);

const objectsOfAll = section(
  "Names, labels, annotations",
  [
    "nameOverride",
    "",
    { type: "string", maxLength: 63, pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$" },
    "Instead of wave in app.kubernetes.io/name; it also follows the release's name in names, where that does not have it.",
  ],
  [
    "fullnameOverride",
    "",
    { type: "string", maxLength: 53, pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$" },
    "What objects are named after, instead of the release.",
  ],
  ["commonLabels", {}, texts, "More labels of every object, and of Pods."],
  ["annotations", {}, texts, "Of the Deployment."],
  ["podAnnotations", {}, texts, "Of Pods."],
  ["podLabels", {}, texts, "More labels of Pods."],
  [
    "extraObjects",
    [],
    { type: "array", items: { type: ["object", "string"] } },
    "More objects to install, as YAML or as text; both may hold templates.",
  ],
);

const permissions = section(
  "Permissions",
  ["serviceAccount.create", true, toggle, "Whether the chart makes it."],
  ["serviceAccount.name", "", optionalName, "Empty: the release's name; `default` where the chart does not make one."],
  ["serviceAccount.annotations", {}, texts, "Of the ServiceAccount."],
  [
    "global.rbac.enabled",
    true,
    toggle,
    "Whether the chart makes roles and bindings: docs/permissions.md has each with its reason.",
  ],
  [
    "accountPolicy.enabled",
    false,
    toggle,
    "A ValidatingAdmissionPolicy that holds Wave's own service account to what it is for: docs/security.md.",
  ],
);

const webhooks = section(
  "Admission webhooks",
  [
    "webhooks.failurePolicy",
    "Ignore",
    { enum: ["Ignore", "Fail"] },
    "What happens to workloads while Wave does not answer: they pass, or are refused. Read docs/admission.md before you choose Fail.",
  ],
  [
    "webhooks.timeoutSeconds",
    5,
    { type: "integer", minimum: 1, maximum: 30 },
    "How long the API server waits for an answer. Wave gives up reading configuration after three seconds.",
  ],
  [
    "webhooks.namespaceSelector",
    {},
    object,
    "Only workloads of these namespaces are reviewed; the others are left to the controller. With `namespaces` both must hold.",
  ],
  ["webhooks.objectSelector", {}, object, "Only workloads with these labels are reviewed."],
  ["webhooks.annotations", {}, texts, "Of the MutatingWebhookConfiguration."],
  [
    "webhooks.certManager.enabled",
    false,
    toggle,
    "Certificates by cert-manager. Without it Wave keeps its own, which need nothing.",
  ],
  [
    "webhooks.certManager.tokenSecret",
    "",
    optionalName,
    "A Secret of the release's namespace with the secret of the webhook's path under the key `token`: docs/admission.md. Needed with cert-manager.",
  ],
  [
    "webhooks.certManager.issuerRef",
    {},
    object,
    "Who signs: `{name: …, kind: ClusterIssuer}`. Empty: an authority of its own, made by cert-manager.",
  ],
  [
    "webhooks.certManager.duration",
    "",
    optionalDuration,
    "How long a certificate lasts. Empty: as cert-manager has it.",
  ],
  [
    "webhooks.certManager.renewBefore",
    "",
    optionalDuration,
    "How long before its end it is renewed. Empty: as cert-manager has it.",
  ],
);

const observed = section(
  "Monitoring",
  ["metrics.service.enabled", false, toggle, "A Service for the port of metrics."],
  ["metrics.service.annotations", {}, texts, "Of that Service."],
  [
    "metrics.serviceMonitor.enabled",
    false,
    toggle,
    "A ServiceMonitor for the operator of Prometheus, and the Service with it.",
  ],
  ["metrics.podMonitor.enabled", false, toggle, "A PodMonitor, which needs no Service."],
  ["metrics.monitor.labels", {}, texts, "Of whichever monitor, for Prometheus to choose it by."],
  ["metrics.monitor.interval", "", optionalPrometheusDuration, "How often it scrapes. Empty: as Prometheus has it."],
  ["metrics.monitor.scrapeTimeout", "", optionalPrometheusDuration, "How long it waits. Empty: as Prometheus has it."],
  ["metrics.monitor.relabelings", [], objects, "Of targets, before they are scraped."],
  ["metrics.monitor.metricRelabelings", [], objects, "Of what was scraped."],
  [
    "metrics.prometheusRule.enabled",
    false,
    toggle,
    "A PrometheusRule with the alerts of deploy/chart/files/alerts.yaml.",
  ],
  ["metrics.prometheusRule.labels", {}, texts, "Of the PrometheusRule, for Prometheus to choose it by."],
  [
    "metrics.dashboard.enabled",
    false,
    toggle,
    "A ConfigMap with the dashboard of deploy/chart/files/dashboard.json, for Grafana's sidecar.",
  ],
  ["metrics.dashboard.labels", { grafana_dashboard: "1" }, texts, "By which the sidecar finds it."],
  ["metrics.dashboard.annotations", {}, texts, "Such as the folder it goes into."],
);

const network = section(
  "Network",
  [
    "networkPolicy.enabled",
    false,
    toggle,
    "A NetworkPolicy: nobody reaches Pods but as the next two say. The kubelet's probes always do.",
  ],
  [
    "networkPolicy.apiServers",
    [],
    objects,
    "Who may call the webhook, as `from` of a NetworkPolicy has it: `[{ipBlock: {cidr: …}}]`. Empty: everybody, because few networks can tell the API server.",
  ],
  ["networkPolicy.scrapers", [{ namespaceSelector: {} }], objects, "Who may read metrics. Empty: nobody."],
  [
    "networkPolicy.egress",
    [],
    objects,
    "What Pods may reach, as `egress` of a NetworkPolicy has it; they need the API server. Empty: everything.",
  ],
);

const flags = (name: string) => flagValues.filter((value) => value.section === name);
const webhookSection = "Admission webhooks";
const ownSections = flagValues.map((value) => value.section).filter((name) => name !== webhookSection);

/** Every value of the chart, in the order in which they are listed: what is the chart's own, and the flags of `wave run`. */
export const chartValues: readonly Value[] = [
  ...pods,
  ...objectsOfAll,
  ...permissions,
  ...[...new Set(ownSections)].flatMap(flags),
  ...flags(webhookSection),
  ...webhooks,
  ...network,
  ...observed,
];
