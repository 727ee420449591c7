import { flagValues } from "./flag-values.ts";
import { objectValues, podValues } from "./pod-values.ts";
import {
  object,
  objects,
  optionalDuration,
  optionalName,
  optionalPrometheusDuration,
  optionalUrl,
  texts,
  toggle,
} from "./schemas.ts";
import { section } from "./section.ts";
import type { Value } from "./value.ts";

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
    "What happens to workloads while Wave does not answer: they pass, or are refused. Read docs/webhooks.md before you choose Fail.",
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
    "A Secret of the release's namespace with the secret of the webhook's path under the key `token`: docs/webhooks.md. Needed with cert-manager.",
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
    "metrics.prometheusRule.runbooks",
    "",
    optionalUrl,
    "Where docs/alerts.md is served, such as https://wave.example/docs/alerts: each alert then has a runbook_url.",
  ],
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

const notifications = section(
  "Notifications",
  [
    "notify.config",
    {},
    object,
    "What the file of `--notify` says, such as `{receivers: […]}`: docs/notifications.md. It is kept in a Secret, and a change of it restarts Pods.",
  ],
  [
    "notify.egress",
    [
      {
        ports: [
          { port: 443, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP" },
        ],
      },
    ],
    objects,
    "What Pods may reach for that besides, where `networkPolicy.egress` limits it.",
  ],
);

const flags = (name: string) => flagValues.filter((value) => value.section === name);
const webhookSection = "Admission webhooks";
const notifySection = "Notifications";
const sharedSections = [webhookSection, notifySection];
const ownSections = flagValues.map((value) => value.section).filter((name) => !sharedSections.includes(name));

/** Every value of the chart, in the order in which they are listed: what is the chart's own, and the flags of `wave run`. */
export const chartValues: readonly Value[] = [
  ...podValues,
  ...objectValues,
  ...permissions,
  ...[...new Set(ownSections)].flatMap(flags),
  ...notifications,
  ...flags(notifySection),
  ...flags(webhookSection),
  ...webhooks,
  ...network,
  ...observed,
];
