import type { MutatingWebhook as PublishedWebhook, RuleWithOperations, WebhookClientConfig } from "#kubernetes";
import type { Compatibility, CompatibilitySettings } from "../../domain/compatibility/directive.ts";
import type { RequestedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import {
  annotationPrefix,
  configHash,
  pinnedAnnotation,
  schedulingDisabled,
  updateOnConfigChange,
} from "../../domain/references/annotations.ts";
import type { KubeObject } from "../../kube/api/resources.ts";

/** The requests for which the API server calls a webhook. Unlike in the published type, no field is optional. */
type WebhookRule = Required<RuleWithOperations>;

/**
 * One webhook of a configuration, with complete rules
 * (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-rules).
 */
export interface MutatingWebhook extends Omit<PublishedWebhook, "rules"> {
  readonly rules?: readonly WebhookRule[];
}

/** A MutatingWebhookConfiguration from the API server. */
export interface StoredConfiguration extends KubeObject {
  readonly webhooks?: readonly MutatingWebhook[];
}

/** A MutatingWebhookConfiguration to create. */
export type NewConfiguration = ReturnType<typeof webhookConfiguration>;

/** Name of the webhook for built-in kinds and suffix of the other names. Users see it in errors of the API server. */
const webhookName = "workloads.wave.pusher.com";

/** Name of the webhook that points Pods at their pinned copies. */
export const podWebhookName = "pods.wave.pusher.com";

/** CEL expressions: the metadata that holds annotations, and whether annotations exist. */
interface AnnotationsPath {
  readonly metadata: string;
  readonly has: string;
}

const templateAnnotations: AnnotationsPath = {
  metadata: "o.spec.template.metadata",
  has: "has(o.spec.template.metadata.annotations)",
};

/** Returns the expressions for a custom resource. Any field may be absent there, and to read a field of an absent one is an error. */
function annotationsAt(pointer: string): AnnotationsPath {
  const metadata = `o${pointer.replaceAll("/", ".")}.metadata`;
  const fields = [...metadata.split("."), "annotations"];
  const all = fields.slice(2).map((_, index) => `has(${fields.slice(0, index + 3).join(".")})`);
  return { metadata, has: all.join(" && ") };
}

/**
 * Returns an expression that is true for a workload, in its new or old state, that
 * - has the scheduling hold, or
 * - has an annotation of Wave, perhaps on its pod template, and does not clearly opt out, so that an unclear value or a misspelt name gets
 *   its warning, or
 * - has no annotation of Wave, and is created or has a hash: its Namespace may have opted it in, which no condition can check.
 *
 * The API server does not call Wave for other workloads, so they cost nothing.
 */
const concernsWaveItself = ({ metadata, has }: AnnotationsPath) =>
  [
    "has(o.metadata.annotations)",
    ` && (${quoted(schedulingDisabled)} in o.metadata.annotations`,
    ` || ${quoted(updateOnConfigChange)} in o.metadata.annotations)`,
    ` ? ${quoted(schedulingDisabled)} in o.metadata.annotations`,
    ` || !(o.metadata.annotations[${quoted(updateOnConfigChange)}] in ['', 'false'])`,
    ` : ${has} && ${quoted(updateOnConfigChange)} in ${metadata}.annotations`,
    ` ? !(${metadata}.annotations[${quoted(updateOnConfigChange)}] in ['', 'false'])`,
    " : request.operation == 'CREATE'",
    " || (has(o.metadata.annotations)",
    ` && o.metadata.annotations.exists(key, key.startsWith(${quoted(annotationPrefix)})))`,
    ` || (${has}`,
    ` && ${quoted(configHash)} in ${metadata}.annotations)`,
  ].join("");

/** Returns the same for a workload with annotations of another controller that Wave understands. */
function concernsWave(compatibility: CompatibilitySettings | undefined, template: AnnotationsPath): string {
  const others = compatibility?.understood.flatMap((compatibility) => otherAnnotations[compatibility](template)) ?? [];
  const all = compatibility?.understood.includes("stakater") && compatibility.autoReloadAll ? ["true"] : others;
  const condition =
    all.length === 0
      ? `(${concernsWaveItself(template)})`
      : `(${all.join(" || ")} || (${concernsWaveItself(template)}))`;
  return `[object, oldObject].exists(o, o != null && ${condition})`;
}

const workloadAnnotations: AnnotationsPath = { metadata: "o.metadata", has: "has(o.metadata.annotations)" };

const otherAnnotations: Readonly<Record<Compatibility, (template: AnnotationsPath) => readonly string[]>> = {
  wave: () => [],
  sap: () => [hasAnnotation(workloadAnnotations, `key.startsWith(${quoted("pod-reloader.cs.sap.com/")})`)],
  stakater: (template) =>
    [workloadAnnotations, template].map((path) =>
      hasAnnotation(path, `key.contains(${quoted("reloader.stakater.com/")})`),
    ),
};

function hasAnnotation({ metadata, has }: AnnotationsPath, condition: string): string {
  return `(${has} && ${metadata}.annotations.exists(key, ${condition}))`;
}

/** False for writes of the controller, which has just decided about the workload. */
const notByWave = "!has(request.options.fieldManager) || request.options.fieldManager != 'wave'";

/** True for a Pod with pins. The API server does not call Wave for other Pods. */
const isPinned = `has(object.metadata.annotations) && ${quoted(pinnedAnnotation)} in object.metadata.annotations`;

function quoted(text: string): string {
  return `'${text}'`;
}

/** Returns the registration of Wave's webhook with every field, also defaults, so that it can be compared with the stored object. */
export function webhookConfiguration({
  name,
  clientConfig,
  namespaces,
  compatibility,
  workloadKinds = [],
  pinConfig = false,
}: Pick<Policy, "namespaces" | "compatibility" | "pinConfig"> & {
  readonly name: string;
  /** How the API server reaches Wave, with the caBundle in base64. */
  readonly clientConfig: WebhookClientConfig;
  /** Kinds of workload in addition to the built-in ones. Default: none. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
}) {
  const webhook = (
    name: string,
    rule: Omit<WebhookRule, "scope">,
    matchConditions: readonly { readonly name: string; readonly expression: string }[],
    more: {
      readonly reinvocationPolicy: "IfNeeded" | "Never";
      readonly sideEffects: "None" | "NoneOnDryRun";
    },
  ) => ({
    name,
    admissionReviewVersions: ["v1"],
    clientConfig,
    rules: [{ ...rule, scope: "Namespaced" }],
    matchConditions: [...matchConditions],
    matchPolicy: "Equivalent",
    namespaceSelector: namespaces
      ? { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: [...namespaces] }] }
      : {},
    objectSelector: {},
    // A webhook that is down blocks no request. The controller then does what the webhook would have done.
    failurePolicy: "Ignore",
    timeoutSeconds: 5,
    ...more,
  });
  const forWorkloads = (name: string, rule: Omit<WebhookRule, "scope" | "operations">, at: AnnotationsPath) =>
    webhook(
      name,
      { ...rule, operations: ["CREATE", "UPDATE"] },
      [
        { name: "concerns-wave", expression: concernsWave(compatibility, at) },
        { name: "not-by-wave", expression: notByWave },
      ],
      {
        // Another webhook may add a container that reads configuration after the review by Wave.
        reinvocationPolicy: "IfNeeded",
        // Wave stores the copies of new Pods before it answers.
        sideEffects: pinConfig ? "NoneOnDryRun" : "None",
      },
    );
  // Without subresources: scale and status never change the pod template.
  const builtIn = {
    apiGroups: ["apps"],
    apiVersions: ["v1"],
    resources: ["daemonsets", "deployments", "statefulsets"],
  };
  const pods = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name, labels: { "app.kubernetes.io/managed-by": "wave" } },
    webhooks: [
      forWorkloads(webhookName, builtIn, templateAnnotations),
      ...workloadKinds.map(({ id, group, version = "*", plural, template }) =>
        forWorkloads(
          `${id}.${webhookName}`,
          { apiGroups: [group], apiVersions: [version], resources: [plural] },
          annotationsAt(template),
        ),
      ),
      ...(pinConfig
        ? [
            webhook(podWebhookName, pods, [{ name: "is-pinned", expression: isPinned }], {
              // A container that another webhook adds later reads live configuration: a copy may lack its keys.
              reinvocationPolicy: "Never",
              sideEffects: "None",
            }),
          ]
        : []),
    ],
  };
}
