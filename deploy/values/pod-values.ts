import { names, object, objects, text, texts, toggle } from "./schemas.ts";
import { section } from "./section.ts";

/** Flags with which objects of the chart must agree; their values see to that. */
const installedWith =
  "^--(namespaces|hash-key-secret|notify|enable-webhooks|webhook-[a-z-]+|leader-election(-id|-namespace)?|metrics-bind-address|health-probe-bind-address|kubeconfig|context)(=|$)";

/** What decides about Pods of Wave, but for the flags that they run with. */
export const podValues = section(
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

/** What is the same for every object of the chart, and what more there is. */
export const objectValues = section(
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
