import { connectionTexts } from "../../src/manager/connect.ts";
import { logMessages } from "../../src/telemetry/logging/log-messages.ts";
import { type CellsOf, textRows } from "./text-tables.ts";

/** The messages of the log without the one about the first connection, which has several texts. */
const { apiServerUnavailable: _, ...workLogMessages } = logMessages;

type Rows = readonly (readonly string[])[];

/** Cause and next step of each message of the log, in one cell. */
const logCells: CellsOf<Omit<typeof logMessages, "apiServerUnavailable">> = {
  apiServerSilent: ["check the network and the load of the API server"],
  watchRefused: ["a permission is missing, or the API server does not serve the resource: see the field `next`"],
  watchFailed: [
    "the network, or an overloaded API server: see the field `error`. Wave decides nothing without this resource",
  ],
  listItemSkipped: ["a proxy changes answers of the API server: check it"],
  watchLineSkipped: ["as above"],
  objectWithoutName: ["a bug of the API server: report it"],
  malformedObject: ["the object violates its schema: check it"],
  malformedWorkload: ["a custom resource has no valid pod template: fix what the field `error` names"],
  namespaceNotListed: ["see the field `error`: mostly a missing [permission](security.md#permissions)"],
  kindCheckFailed: ["see the field `error`. Wave does not roll the kind until the check works"],
  templateUnread: ["grant `get` on `deployments`"],
  eventNotWritten: ["the namespace is being deleted, or grant `create` and `patch` on `events`"],
  leaseNotWritten: ["check the permissions on `leases`, and the API server"],
  leaderWorkFailed: ["report the field `error`; the replica becomes a standby"],
  leaseNotReleased: ["nothing: the next leader starts after 15 s"],
  leadershipLost: ["nothing, if it is rare; otherwise the API server is slow, or the Pod lacks CPU time"],
  writeRefused: ["a policy or a webhook rejects the hash: see the Event `RolloutRefused` on the workload"],
  writeUnanswered: ["check the API server. This line is for all workloads"],
  changeHalted: [
    "fix the configuration, or run `wave resume`: [batches](pacing.md#many-workloads-that-read-one-object)",
  ],
  planFailed: ["report the line with its field `stack`; other workloads are not affected"],
  pendingPodsKept: ["their scheduling hold has ended: grant `list` and `delete` on `pods`"],
  jobNotReplaced: [
    "fix what the field `error` names, for example a full quota. To keep the Job deleted, delete its [record](kinds.md#cronjobs-and-jobs)",
  ],
  rolloutFailed: [
    "see the field `error`: run `kubectl logs POD -c CONTAINER --previous`, and correct the configuration. A container that restarts counts from the third time in one Pod, if it restarts more often than before the rollout",
  ],
  alertsAway: ["check `--gate-prometheus-url`, and the token and the certificate if Prometheus needs them"],
  alertsAwayHeld: ["the same. To let rollouts continue, remove `--gate-required`"],
  canaryPodsUnread: ["grant `list` on `pods`. Until then Wave does not see containers that restart"],
  mixedPodsKept: ["grant `list` on `pods`"],
  mixedPodsLeft: ["compare the clocks of the nodes, and delete these Pods"],
  stateNotWritten: ["see the field `error`. Rollouts are not affected; GitOps tools show the workload as before"],
  copiesNotSwept: [
    "grant the [permissions](security.md#permissions) for `pinConfig.enabled`. Until then, Wave deletes no pinned copies in these namespaces",
  ],
  copyNotWritten: ["exclude the label `wave.pusher.com/pinned-copy` from the admission policy"],
  copyLost: [
    "another client deleted the copy, and new Pods cannot start: restore the content, or [unpin and restart the workload](pinning.md#unpin-a-workload-whose-copy-is-lost)",
  ],
  ownersNotWritten: ["grant the [permissions](security.md#permissions) for `ownerReferences`"],
  ownersReverted: ["the managed fields of the object in the field `object` name that client"],
  hashKeyUnknown: [
    "the Secret is unreadable or has no valid key: see the field `error` and [keys](../contributing/adr/0008-hash-key.md)",
  ],
  hashKeyStale: ["as above"],
  certificatesNotUpdated: ["check the permissions of `wave-webhook-authority` and `wave-webhook-configuration`"],
  certificateUnusable: ["the files in `--webhook-tls-directory` do not match: see the field `error`"],
  webhookUnregistered: ["take a step that the line names"],
  webhookElsewhere: ["take the step that the line names"],
  registrationNotDeleted: ["Wave ended outside the cluster"],
  webhookWatchEnded: ["a bug: report it. The process continues"],
  configurationUnread: ["check the load of the API server, and the permission `get`. Reads may take 3 s"],
  reviewFailed: ["a bug, or an invalid object: report the line. The controller does the work later"],
  notificationDelayed: ["nothing, if it is rare"],
  notificationLost: ["check the URL and the token of the receiver, and see the field `error`"],
  notificationsUnsent: ["nothing"],
  ownershipNotWritten: ["remove `--observe`, or `--owner-references` and `--migrate-legacy`"],
  migrateLegacyIdle: ["remove one of the flags"],
  flagIdle: ["a flag of Reloader that Wave ignores: remove it"],
  variableIdle: ["a variable of Reloader: use [notifications](notifications.md)"],
  secondSignal: ["nothing"],
  bug: ["report the line; Kubernetes restarts Wave"],
};

/** Cause and next step of each problem with the first connection. */
const connectionCells: CellsOf<typeof connectionTexts> = {
  unreachable: ["no response: check the name of the server, the network and the certificate authority"],
  unauthorized: ["check the ServiceAccount or the kubeconfig"],
  failing: ["check the API server, and a proxy before it"],
};

/** The rows of the table of log lines in docs/events.md. */
export const logRows: Rows = [
  ...textRows(connectionTexts, connectionCells).map(([line = "", ...cells]) => [
    line.replace(/`$/, "; retrying`"),
    ...cells,
  ]),
  ...textRows(workLogMessages, logCells),
];
