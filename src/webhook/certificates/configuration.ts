import type {
  MutatingWebhook as PublishedWebhook,
  WebhookClientConfig,
} from "kubernetes-types/admissionregistration/v1.d.ts";
import type { Compatibility, CompatibilitySettings } from "../../domain/compatibility/settings.ts";
import type { WantedKind } from "../../domain/model/kinds/requested-kind.ts";
import {
  annotationPrefix,
  configHash,
  schedulingDisabled,
  updateOnConfigChange,
} from "../../domain/references/annotations.ts";

/** Which requests a webhook is called for; kubernetes-types leaves out half of it. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: "Cluster" | "Namespaced" | "*";
}

/** One webhook of a MutatingWebhookConfiguration. */
export interface MutatingWebhook extends Omit<PublishedWebhook, "rules"> {
  readonly rules?: readonly WebhookRule[];
}

/** A MutatingWebhookConfiguration to be created. */
export interface NewConfiguration {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingWebhookConfiguration";
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly webhooks: readonly MutatingWebhook[];
}

/** Which workloads reach Wave, and how: the one place that says so, for Wave itself and for what installs it. */
export interface ConfigurationOptions {
  /** Of the object. */
  readonly name: string;
  /** How the API server reaches Wave; the caBundle in it as base64. */
  readonly clientConfig: WebhookClientConfig;
  /** Only these namespaces; undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  /** Whose annotations are understood; undefined: Wave's alone. */
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Kinds of workload besides the built-in ones; undefined: none. */
  readonly workloadKinds?: readonly WantedKind[] | undefined;
}

/** Of the webhook for built-in kinds, and what the names of the others end with; users see it in errors of the API server. */
const webhookName = "workloads.wave.pusher.com";

/** Where the annotations of the pod template are, as CEL; and whether there are any. */
interface InTemplate {
  readonly metadata: string;
  readonly has: string;
}

const builtInTemplate: InTemplate = {
  metadata: "o.spec.template.metadata",
  has: "has(o.spec.template.metadata.annotations)",
};

/** In a custom resource nothing need be there: to ask for a field of what is absent is an error. */
function inTemplateAt(pointer: string): InTemplate {
  const metadata = `o${pointer.replaceAll("/", ".")}.metadata`;
  const fields = [...metadata.split("."), "annotations"];
  const all = fields.slice(2).map((_, index) => `has(${fields.slice(0, index + 3).join(".")})`);
  return { metadata, has: all.join(" && ") };
}

/**
 * True for a workload, as it is or as it was, that
 * - carries the scheduling gate, or
 * - says anything to Wave and does not plainly decline: an unclear value or a misspelt name shall get its warning, or
 * - says nothing, and is created or has a hash: its Namespace may have opted it in, of which no condition can ask.
 *
 * All others cost nothing: the API server does not call Wave for them.
 */
const saysToWave = ({ metadata, has }: InTemplate) =>
  [
    "has(o.metadata.annotations)",
    ` && (${quoted(schedulingDisabled)} in o.metadata.annotations`,
    ` || ${quoted(updateOnConfigChange)} in o.metadata.annotations)`,
    ` ? ${quoted(schedulingDisabled)} in o.metadata.annotations`,
    ` || !(o.metadata.annotations[${quoted(updateOnConfigChange)}] in ['', 'false'])`,
    " : request.operation == 'CREATE'",
    " || (has(o.metadata.annotations)",
    ` && o.metadata.annotations.exists(key, key.startsWith(${quoted(annotationPrefix)})))`,
    ` || (${has}`,
    ` && ${quoted(configHash)} in ${metadata}.annotations)`,
  ].join("");

/** The same for a workload that says anything in another dialect which is understood, or need not. */
function concernsWave(compatibility: CompatibilitySettings | undefined, template: InTemplate): string {
  const others = compatibility?.understood.flatMap((compatibility) => saysTo[compatibility](template)) ?? [];
  const all = compatibility?.understood.includes("stakater") && compatibility.autoReloadAll ? ["true"] : others;
  const says = all.length === 0 ? `(${saysToWave(template)})` : `(${all.join(" || ")} || (${saysToWave(template)}))`;
  return `[object, oldObject].exists(o, o != null && ${says})`;
}

const ofWorkload: InTemplate = { metadata: "o.metadata", has: "has(o.metadata.annotations)" };

const saysTo: Readonly<Record<Compatibility, (template: InTemplate) => readonly string[]>> = {
  wave: () => [],
  sap: () => [hasOne(ofWorkload, `key.startsWith(${quoted("pod-reloader.cs.sap.com/")})`)],
  stakater: (template) =>
    [ofWorkload, template].map((place) => hasOne(place, `key.contains(${quoted("reloader.stakater.com/")})`)),
};

function hasOne({ metadata, has }: InTemplate, condition: string): string {
  return `(${has} && ${metadata}.annotations.exists(key, ${condition}))`;
}

/** False for what the controller writes: it has just decided, so asking again would only cost time. */
const notByWave = "!has(request.options.fieldManager) || request.options.fieldManager != 'wave'";

function quoted(text: string): string {
  return `'${text}'`;
}

/**
 * The registration of Wave's webhook. Every field is there, also where it is the API server's default, so that what is
 * stored can be compared with it.
 */
export function webhookConfiguration({
  name,
  clientConfig,
  namespaces,
  compatibility,
  workloadKinds = [],
}: ConfigurationOptions): NewConfiguration {
  const webhook = (
    name: string,
    rule: Pick<WebhookRule, "apiGroups" | "apiVersions" | "resources">,
    at: InTemplate,
  ) => ({
    name,
    admissionReviewVersions: ["v1"],
    clientConfig,
    rules: [{ ...rule, operations: ["CREATE", "UPDATE"], scope: "Namespaced" as const }],
    matchConditions: [
      { name: "concerns-wave", expression: concernsWave(compatibility, at) },
      { name: "not-by-wave", expression: notByWave },
    ],
    matchPolicy: "Equivalent",
    namespaceSelector: namespaces
      ? { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: [...namespaces] }] }
      : {},
    objectSelector: {},
    // A webhook that is down blocks nobody; the controller then does what admission would have done.
    failurePolicy: "Ignore",
    timeoutSeconds: 5,
    // Another webhook may add a container that reads configuration after Wave has looked.
    reinvocationPolicy: "IfNeeded",
    sideEffects: "None",
  });
  // Not their subresources: scaling and status never touch the pod template.
  const builtIn = {
    apiGroups: ["apps"],
    apiVersions: ["v1"],
    resources: ["daemonsets", "deployments", "statefulsets"],
  };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name, labels: { "app.kubernetes.io/managed-by": "wave" } },
    webhooks: [
      webhook(webhookName, builtIn, builtInTemplate),
      ...workloadKinds.map(({ id, group, version = "*", plural, template }) =>
        webhook(
          `${id}.${webhookName}`,
          { apiGroups: [group], apiVersions: [version], resources: [plural] },
          inTemplateAt(template),
        ),
      ),
    ],
  };
}
