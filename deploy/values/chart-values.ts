import { flagValues } from "./flag-values.ts";
import { objectValues, podValues } from "./pod-values.ts";
import {
  notifyFile,
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
  ["serviceAccount.create", true, toggle, "Create a ServiceAccount."],
  [
    "serviceAccount.name",
    "",
    optionalName,
    "Name of the ServiceAccount. Empty: the name of the release, or `default` if the chart does not create a ServiceAccount.",
  ],
  ["serviceAccount.annotations", {}, texts, "Annotations of the ServiceAccount."],
  [
    "global.rbac.enabled",
    true,
    toggle,
    "Create roles and bindings. docs/security.md#permissions lists each permission with its reason.",
  ],
  [
    "accountPolicy.enabled",
    false,
    toggle,
    "Create a ValidatingAdmissionPolicy that restricts the writes of Wave's ServiceAccount. The policy cannot restrict Jobs, so `workloadKinds` may not contain `cronjobs.batch` or `jobs.batch`. See docs/security.md.",
  ],
  [
    "operatorRole.enabled",
    false,
    toggle,
    "Create the ClusterRole `RELEASE-operator` for people on call, and a ValidatingAdmissionPolicy that limits them to the annotations of `wave hold`, `release`, `approve`, `resume` and `roll`. See docs/security.md.",
  ],
);

const webhooks = section(
  "Webhooks",
  [
    "webhooks.failurePolicy",
    "Ignore",
    { enum: ["Ignore", "Fail"] },
    "Behavior of the API server while Wave does not answer. `Ignore`: admit workloads. `Fail`: reject workloads. Read docs/webhooks.md before you choose Fail.",
  ],
  [
    "webhooks.timeoutSeconds",
    5,
    { type: "integer", minimum: 1, maximum: 30 },
    "Seconds that the API server waits for a response. Wave stops reading configuration after three seconds.",
  ],
  [
    "webhooks.namespaceSelector",
    {},
    object,
    "Review only workloads in these namespaces. The controller handles all others. If you also set `namespaces`, a namespace must match both.",
  ],
  [
    "webhooks.objectSelector",
    {},
    object,
    "Review only workloads with these labels. The controller handles all others.",
  ],
  ["webhooks.annotations", {}, texts, "Annotations of the MutatingWebhookConfiguration."],
  [
    "webhooks.certManager.enabled",
    false,
    toggle,
    "Use certificates from cert-manager. By default Wave issues its own certificates, which needs no setup.",
  ],
  [
    "webhooks.certManager.tokenSecret",
    "",
    optionalName,
    "Name of a Secret in the namespace of the release. Its key `token` has the secret path of the webhook. Required with cert-manager. See docs/webhooks.md.",
  ],
  [
    "webhooks.certManager.issuerRef",
    {},
    object,
    "Issuer of the certificate, for example `{name: …, kind: ClusterIssuer}`. Empty: a new certificate authority from cert-manager.",
  ],
  [
    "webhooks.certManager.duration",
    "",
    optionalDuration,
    "Validity of a certificate. Empty: the default of cert-manager.",
  ],
  [
    "webhooks.certManager.renewBefore",
    "",
    optionalDuration,
    "Time before the expiry of a certificate at which cert-manager renews the certificate. Empty: the default of cert-manager.",
  ],
);

const monitoring = section(
  "Monitoring",
  ["metrics.service.enabled", false, toggle, "Create a Service for the metrics port."],
  ["metrics.service.annotations", {}, texts, "Annotations of the metrics Service."],
  [
    "metrics.serviceMonitor.enabled",
    false,
    toggle,
    "Create a ServiceMonitor for the Prometheus operator, and the metrics Service.",
  ],
  ["metrics.podMonitor.enabled", false, toggle, "Create a PodMonitor, which needs no Service."],
  ["metrics.monitor.labels", {}, texts, "Labels by which Prometheus selects the ServiceMonitor or PodMonitor."],
  ["metrics.monitor.interval", "", optionalPrometheusDuration, "Scrape interval. Empty: the default of Prometheus."],
  [
    "metrics.monitor.scrapeTimeout",
    "",
    optionalPrometheusDuration,
    "Scrape timeout. Empty: the default of Prometheus.",
  ],
  ["metrics.monitor.relabelings", [], objects, "Relabelings of targets before the scrape."],
  ["metrics.monitor.metricRelabelings", [], objects, "Relabelings of scraped metrics."],
  [
    "metrics.prometheusRule.enabled",
    false,
    toggle,
    "Create a PrometheusRule with the alerts of deploy/chart/files/alerts.yaml.",
  ],
  ["metrics.prometheusRule.labels", {}, texts, "Labels by which Prometheus selects the PrometheusRule."],
  [
    "metrics.prometheusRule.runbooks",
    "",
    optionalUrl,
    "URL of your copy of docs/alerts.md, for the runbook_url of each alert. Empty: the page in the repository that a released chart names, otherwise no links.",
  ],
  [
    "metrics.dashboard.enabled",
    false,
    toggle,
    "Create a ConfigMap with the dashboard of deploy/chart/files/dashboard.json, for the sidecar of Grafana.",
  ],
  [
    "metrics.dashboard.labels",
    { grafana_dashboard: "1" },
    texts,
    "Labels by which the sidecar finds the dashboard ConfigMap.",
  ],
  [
    "metrics.dashboard.annotations",
    {},
    texts,
    "Annotations of the dashboard ConfigMap, for example its folder in Grafana.",
  ],
);

const network = section(
  "Network",
  [
    "networkPolicy.enabled",
    false,
    toggle,
    "Create a NetworkPolicy that allows only the connections that the values below name. Probes of the kubelet are always allowed.",
  ],
  [
    "networkPolicy.apiServers",
    [],
    objects,
    "Sources that may call the webhook, in the form of `from` of a NetworkPolicy: `[{ipBlock: {cidr: …}}]`. Empty: all sources, because few networks can identify the API server.",
  ],
  [
    "networkPolicy.scrapers",
    [{ namespaceSelector: {} }],
    objects,
    "Sources that may read metrics, in the form of `from` of a NetworkPolicy. Empty: none.",
  ],
  [
    "networkPolicy.egress",
    [],
    objects,
    "Destinations that Pods may reach, in the form of `egress` of a NetworkPolicy. They must include the API server. Empty: all destinations.",
  ],
);

const notifications = section(
  "Notifications",
  [
    "notify.config",
    {},
    notifyFile,
    "Content of the file for `--notify`, for example `{receivers: […]}`. The chart stores it in a Secret, and a change restarts Pods. See docs/notifications.md.",
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
    "Additional destinations for notifications, used only if `networkPolicy.egress` is set.",
  ],
);

/** The section of the values of the alert gate. */
const gateSection = "Alert gate";

const gate = section(
  gateSection,
  [
    "gate.existingSecret",
    "",
    optionalName,
    "Name of a Secret in the namespace of the release. Its keys become files in /gate, for example the token for `gate.prometheusTokenFile: /gate/token`.",
  ],
  [
    "gate.egress",
    [
      {
        ports: [
          { port: 9090, protocol: "TCP" },
          { port: 443, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP" },
        ],
      },
    ],
    objects,
    "Additional destinations for the queries to Prometheus, used only if `networkPolicy.egress` and `gate.prometheusUrl` are set.",
  ],
);

const flags = (name: string) => flagValues.filter((value) => value.section === name);
const webhookSection = "Webhooks";
const notifySection = "Notifications";
const sharedSections = [webhookSection, notifySection, gateSection];
const ownSections = flagValues.map((value) => value.section).filter((name) => !sharedSections.includes(name));

/** All values of the chart, in the order of values.yaml: its own values, and the flags of `wave run`. */
export const chartValues: readonly Value[] = [
  ...podValues,
  ...objectValues,
  ...permissions,
  ...[...new Set(ownSections)].flatMap(flags),
  ...flags(gateSection),
  ...gate,
  ...notifications,
  ...flags(notifySection),
  ...flags(webhookSection),
  ...webhooks,
  ...network,
  ...monitoring,
];
