import { names, object, objects, text, texts, toggle } from "./schemas.ts";
import { section } from "./section.ts";

/** Flags that must match objects of the chart. Their values ensure that, so extraArgs rejects them. */
const reservedFlags =
  "^--(namespaces|hash-key-secret|notify|pin-config|enable-webhooks|webhook-[a-z-]+|leader-election(-id|-namespace)?|metrics-bind-address|health-probe-bind-address|kubeconfig|context)(=|$)";

/** Values of the Pods of Wave, except for their flags. */
export const podValues = section(
  "Image and Pods",
  [
    "image.repository",
    "wave",
    { type: "string", pattern: "^[^\\s@]+$" },
    "Image repository, without a tag. Required: no public image exists yet. Build it with deploy/image/Dockerfile.",
  ],
  ["image.tag", "", { type: "string", pattern: "^[^\\s:@]*$" }, "Image tag. Empty: the appVersion of the chart."],
  [
    "image.digest",
    "",
    { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
    "Image digest: `sha256:` and 64 hexadecimal digits. Overrides the tag.",
  ],
  [
    "image.pullPolicy",
    "IfNotPresent",
    { enum: ["Always", "IfNotPresent", "Never"] },
    "Image pull policy: when nodes pull the image.",
  ],
  ["image.name", "", text, "Image repository in values files of Wave 0.11. Used only if image.repository is not set."],
  [
    "imagePullSecrets",
    [],
    names,
    "Secrets for pulling the image, by name or as `{name: …}`. Added to global.imagePullSecrets.",
  ],
  [
    "global.imagePullSecrets",
    [],
    names,
    "Secrets for pulling images, shared with other charts of the same parent chart.",
  ],
  [
    "replicas",
    2,
    { type: "integer", minimum: 0 },
    "Number of replicas. One leads and rolls workloads; the others answer webhook requests and can become leader at once.",
  ],
  [
    "pdb.enabled",
    true,
    toggle,
    "Create a PodDisruptionBudget that allows one unavailable Pod, if there are several replicas.",
  ],
  [
    "resources",
    { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
    object,
    "Resources of each replica. The defaults are enough for 50,000 Secrets and 2,000 workloads (docs/production.md). Raise the limit for many more objects; otherwise Kubernetes kills Wave when it starts.",
  ],
  ["nodeSelector", {}, texts, "Labels of the nodes on which Pods may run."],
  ["tolerations", [], objects, "Taints that Pods tolerate."],
  ["affinity", {}, object, "Node and Pod affinity of Pods."],
  [
    "topologySpreadConstraints",
    [],
    objects,
    "Topology spread constraints of Pods. If a constraint has no labelSelector, the chart adds the selector of Wave's Pods. Empty: spread Pods over nodes if possible.",
  ],
  ["priorityClassName", "", text, "Priority class of Pods, for example system-cluster-critical."],
  [
    "securityContext",
    { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    object,
    "Security context of Pods.",
  ],
  [
    "containerSecurityContext",
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
    object,
    "Security context of the container. With both defaults, Pods run in a namespace with the Pod Security level `restricted`.",
  ],
  [
    "hostNetwork",
    false,
    toggle,
    "Use the network of the node. Needed for webhooks if the API server does not reach the network of Pods, for example on EKS with an overlay network. See docs/install.md#host-network.",
  ],
  [
    "dnsPolicy",
    "",
    { enum: ["", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"] },
    "DNS policy of Pods. Empty: `ClusterFirst`, or `ClusterFirstWithHostNet` with `hostNetwork`.",
  ],
  [
    "hooks.labels",
    { "sidecar.istio.io/inject": "false" },
    texts,
    "Additional labels of the Job before `helm uninstall`, of its Pod, and of the Pod of `helm test`. A sidecar that a mesh injects can keep them running.",
  ],
  ["hooks.annotations", { "linkerd.io/inject": "disabled" }, texts, "Additional annotations of the same objects."],
  ["extraEnv", [], objects, "Additional environment variables of the container."],
  ["extraVolumes", [], objects, "Additional volumes of Pods."],
  ["extraVolumeMounts", [], objects, "Additional volume mounts of the container."],
  [
    "extraArgs",
    [],
    { type: "array", items: { type: "string", pattern: "^--[a-z]", not: { pattern: reservedFlags } } },
    "Additional arguments, after all others. Most flags of `wave run` have a chart value: prefer the chart value.",
  ],
);

/** Values for the metadata of all objects, and additional objects. */
export const objectValues = section(
  "Names, labels, annotations",
  [
    "nameOverride",
    "",
    { type: "string", maxLength: 63, pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$" },
    "Replaces `wave` in the label app.kubernetes.io/name, and in object names. Object names begin with the name of the release.",
  ],
  [
    "fullnameOverride",
    "",
    { type: "string", maxLength: 53, pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$" },
    "Replaces the name of the release in object names.",
  ],
  ["commonLabels", {}, texts, "Additional labels of all objects and of Pods."],
  ["annotations", {}, texts, "Annotations of the Deployment."],
  ["podAnnotations", {}, texts, "Annotations of Pods."],
  ["podLabels", {}, texts, "Additional labels of Pods."],
  [
    "extraObjects",
    [],
    { type: "array", items: { type: ["object", "string"] } },
    "Additional objects to install, as YAML or as text. Both may contain templates.",
  ],
);
