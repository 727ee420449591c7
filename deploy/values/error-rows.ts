import { argumentErrorTexts, commandErrorTexts } from "../../src/cli/command/error-texts.ts";
import { manifestErrorTexts } from "../../src/cli/diff/manifests/manifest-error-texts.ts";
import { flagErrorTexts } from "../../src/cli/flags/flag-error-texts.ts";
import { runErrorTexts } from "../../src/cli/run/run-error-texts.ts";
import { configErrorTexts } from "../../src/kube/config/config-error-texts.ts";
import { connectionTexts } from "../../src/manager/connect.ts";
import { logMessages } from "../../src/telemetry/logging/log-messages.ts";
import { type CellsOf, textRows } from "./text-tables.ts";

/** The messages of the log without the one about the first connection, which has several texts. */
const { apiServerUnavailable: _, ...workLogMessages } = logMessages;

type Rows = readonly (readonly string[])[];

/** Cause and next step of each message of the log. */
const logCells: CellsOf<Omit<typeof logMessages, "apiServerUnavailable">> = {
  apiServerSilent: [
    "no request got a response for a while",
    "check the network and the load of the API server; Wave continues when it responds",
  ],
  watchRefused: [
    "Wave lacks a permission, the credentials are not accepted, or the API server does not serve the resource",
    "the field `next` has the next step; [permissions](permissions.md)",
  ],
  watchFailed: [
    "a list or watch fails; Wave decides nothing that depends on unknown objects",
    "read the API server's message in the field `error`: mostly a network problem or an overloaded API server",
  ],
  listItemSkipped: ["a proxy between Wave and the API server changes answers", "check the proxy"],
  watchLineSkipped: ["a proxy between Wave and the API server changes answers", "check the proxy"],
  objectWithoutName: ["the API server sent an object without a name", "report it"],
  malformedObject: ["an object violates its own schema", "check the object"],
  malformedWorkload: [
    "a custom resource that opted in, or that Wave rolled before, has no valid pod template",
    "fix what the field `error` names; `bin/wave explain` also reports it",
  ],
  namespaceNotListed: [
    "a Namespace opted in or out, and a list of its workloads fails",
    "read the field `error`: mostly a missing [permission](permissions.md)",
  ],
  kindCheckFailed: [
    "a request for the API resources of a kind in `--workload-kinds` fails",
    "read the field `error`; Wave does not roll the kind until the check works",
  ],
  templateUnread: [
    "the Deployment of a Rollout's `workloadRef` cannot be read",
    "grant `get` on `deployments`; Wave retries",
  ],
  eventNotWritten: ["the namespace rejects Events, or is being deleted", "grant `create` and `patch` on `events`"],
  leaseNotWritten: [
    "the leader cannot renew the Lease, or a replica cannot read it",
    "check the permissions on `leases`, and the API server",
  ],
  leaderWorkFailed: [
    "a replica that no longer leads could not end its work without an error",
    "report the field `error`; the replica becomes a standby",
  ],
  leaseNotReleased: ["the release of the Lease was not answered", "nothing: the next leader starts after 15 s"],
  leadershipLost: [
    "another replica becomes the leader, or this replica could not renew the Lease",
    "nothing, if it is rare; otherwise the API server is slow, or the Pod lacks CPU time",
  ],
  writeRefused: [
    "the API server, a policy or a webhook rejects the hash of a workload",
    "see the Event `RolloutFailed` on the workload: [Events](events.md)",
  ],
  writeUnanswered: [
    "the API server does not answer a write; one line for all workloads",
    "check the API server; Wave retries",
  ],
  changeHalted: [
    "too many workloads failed with the change",
    "fix the configuration, or run `wave resume`: [batches](pacing.md#many-workloads-that-read-one-object)",
  ],
  planFailed: ["Wave has a bug", "report the line with its field `stack`; other workloads are not affected"],
  pendingPodsKept: [
    "Pods stay Pending although their scheduling hold has ended",
    "grant `list` and `delete` on `pods`, which the webhooks need",
  ],
  copiesNotSwept: [
    "Wave cannot read the copies, cannot read the Pods, workloads and revisions that may use them, or cannot write a copy",
    "grant the [permissions](permissions.md) for `pinConfig.enabled`; until then Wave deletes no copy in that namespace",
  ],
  copyLost: [
    "a client deleted a pinned copy that Pods use, and its ConfigMap has changed since",
    "new Pods of the workload cannot start: restore the content of the ConfigMap, or restart the workload",
  ],
  ownersNotWritten: [
    "Wave could not patch an object, for example because the permission is missing",
    "grant the [permissions](permissions.md) for `ownerReferences`; otherwise Wave retries by itself",
  ],
  ownersReverted: [
    "another controller sets `ownerReferences` or finalizers of the same object",
    "the field `object` names the object; `kubectl get … -o yaml` shows the other client in its managed fields",
  ],
  hashKeyUnknown: [
    "the Secret with the hash key is unreadable, or holds no valid key",
    "the field `error` names the problem; [keys](adr/0008-hash-key.md)",
  ],
  hashKeyStale: [
    "the Secret with the hash key is unreadable, or holds no valid key; this replica already knows the keys",
    "the field `error` names the problem; [keys](adr/0008-hash-key.md)",
  ],
  certificatesNotUpdated: [
    "the Secret of the certificate authority, or the webhook configuration, cannot be written",
    "check the permissions of `wave-webhook-authority` and `wave-webhook-configuration`",
  ],
  certificateUnusable: ["the files in `--webhook-tls-directory` do not match", "the field `error` names the reason"],
  webhookUnregistered: [
    "webhooks are on, but there is no MutatingWebhookConfiguration of this name",
    "set `webhooks.enabled` in the chart, or `--webhook-url` outside the cluster",
  ],
  webhookElsewhere: ["the configuration names another Service or namespace", "correct `clientConfig.service`"],
  registrationNotDeleted: [
    "Wave ended outside the cluster, and its registration is still there",
    "delete the MutatingWebhookConfiguration with kubectl",
  ],
  webhookWatchEnded: ["a bug; the process continues", "report it"],
  configurationUnread: [
    "reads took longer than 3 s, or the permission is missing",
    "check the API server's load, and the permission `get`",
  ],
  reviewFailed: [
    "a bug, or an object that is not valid",
    "report the line; the controller later makes the change that the webhook would have made",
  ],
  notificationDelayed: [
    "a receiver did not accept a message",
    "nothing, if it is rare; Wave tries again with growing delays",
  ],
  notificationLost: [
    "a receiver rejected a message, or did not accept it after several tries",
    "the field `error` names the reason; check the URL and the token of the receiver",
  ],
  notificationsUnsent: ["Wave ended while messages were waiting", "nothing"],
  ownershipNotWritten: [
    "`--observe` is set with `--owner-references` or `--migrate-legacy`",
    "remove one of the flags",
  ],
  migrateLegacyIdle: ["both flags are set", "remove one of the flags"],
  flagIdle: ["a flag of Reloader that Wave accepts and ignores", "remove the flag"],
  secondSignal: ["the process received a second signal", "nothing"],
  bug: ["Wave has a bug and ends", "report the line; Kubernetes restarts Wave"],
};

/** Cause and next step of each problem with the first connection. */
const connectionCells: CellsOf<typeof connectionTexts> = {
  unreachable: [
    "no response arrives",
    "check the server's name in the line, the network and the certificate authority",
  ],
  unauthorized: ["the token or the client certificate is not accepted", "check the ServiceAccount or the kubeconfig"],
  failing: ["the API server, or a proxy before it, responds with an error", "check the API server; Wave retries"],
};

const configCells: CellsOf<typeof configErrorTexts> = {
  noCluster: ["no kubeconfig or cluster is given"],
  noServiceAccount: ["Wave runs in a Pod without the token of its ServiceAccount"],
  flagFileNotFound: ["the path is wrong"],
  variableFilesNotFound: ["the variable has a path from another shell or machine"],
  kubeconfigUnreadable: ["the line names the file and the reason"],
  noContext: ["the kubeconfig has several contexts; the message lists them"],
  contextNotFound: ["the message lists the existing contexts"],
  pluginFailed: ["run the plugin by hand"],
  tokenUnreadable: ["outside a Pod, use another kubeconfig"],
  tokenEmpty: ["outside a Pod, use another kubeconfig"],
};

const commandCells: CellsOf<typeof commandErrorTexts> = {
  notFound: ["the line names the namespace and the kubeconfig context that were searched"],
  notFoundInCluster: ["the line names the kubeconfig context that was searched"],
  kindNotRolled: ["see [kinds](kinds.md)"],
  noRevisions: [
    "Jobs and CronJobs have no history: their Pods end, and the next run starts with the live configuration",
  ],
  noRevision: ["`wave history` lists the revisions that Kubernetes keeps"],
  revisionNotPinned: ["see [pinned configuration](pinning.md)"],
  noReader: ["`wave list` shows the workloads that opted in"],
  readersUnknown: ["`wave resume` wrote what it could; the rest needs the permission in the line"],
  hashUnknown: ["you have no permission to read a Secret that the workload reads"],
  helpRequested: ["the Deployment of the running Wave has the flag for help or version"],
};

const argumentCells: CellsOf<typeof argumentErrorTexts> = {
  unknownCommand: ["run `wave help`"],
  misspeltCommand: ["the line suggests the nearest command"],
  noWorkload: ["the command needs a name"],
  noObject: ["the command needs a name; `wave hold` and similar commands also accept other objects than workloads"],
  noName: ["a kind is given without a name"],
  tooManyWorkloads: ["a command that takes one workload has two"],
  twoSlashes: ["two names are joined by a slash"],
  noKind: ["a name is given without a kind"],
  notAKind: ["the kind is misspelt"],
  invalidName: ["the name has characters that are not allowed, such as capital letters or spaces"],
  unsupportedKind: ["for example `wave approve configmap/page`: only workloads can be approved"],
  twoNamespaces: ["leave out `-n`"],
  noAllNamespaces: ["to hold whole namespaces, use `wave hold namespace/NAME`"],
  surplusOfList: ["there is a name after `wave list`"],
  surplusNamespace: ["there is one word too many"],
  surplusFile: ["a file is given without `-f`"],
  noRevisionNumber: ["`wave diff` compares a workload only with one of its revisions"],
  revisionOrFile: ["`wave diff` compares manifests, or a revision"],
  revisionMarkdown: ["only the comparison of manifests has this output"],
  valuesOfRevision: ["the comparison of manifests never prints values"],
  surplusOfDemo: ["there is one word too many"],
  noShell: ["`wave completion` needs the name of a shell"],
  unknownShell: ["the line lists the supported shells"],
  noDryRun: ["`wave migrate` needs `--dry-run`"],
};

const flagCells: CellsOf<typeof flagErrorTexts> = {
  invalidFlag: ["the flag starts with three dashes, or is not a flag"],
  unknownFlag: ["run the command with `--help-all`"],
  misspeltFlag: ["the line suggests the nearest flag"],
  noValue: ["the line lists the allowed values"],
  invalidValue: ["the value of a flag or variable is invalid; the line shows the allowed values"],
  settleTooLong: ["raise `--settle-max` too"],
};

const runCells: CellsOf<typeof runErrorTexts> = {
  noEffect: ["one flag needs the other"],
  sameAddress: ["two servers cannot have one address"],
  noLeaseNamespace: ["outside a Pod, name a namespace, or turn leader election off"],
  surplusWord: ["there is one word too many"],
  surplusBoolean: ["a boolean flag takes its value after an equals sign"],
};

const manifestCells: CellsOf<typeof manifestErrorTexts> = {
  noFile: ["`wave diff` needs `-f`"],
  noManifest: ["the tool before the pipe failed, for example `helm template`"],
  emptyFolder: ["the folder has no manifests"],
  fileNotFound: ["the path is wrong"],
  unreadable: ["after the colon is the reason from the operating system, for example a missing permission"],
  tooLarge: ["compare one application at a time"],
  tooManyObjects: ["compare one application at a time"],
  tooDeep: ["no Kubernetes manifest is so deep: check the file"],
  notAnObject: ["for example, values of a chart instead of the output of `helm template`"],
  noName: ["every object needs a name"],
  duplicate: ["two files contain one object"],
  otherNamespace: ["leave out `-n`: manifests that name a namespace do not need it"],
  notAMapping: ["mostly a wrong indent: a list instead of names and values"],
  notAString: ["a number or `true` is given as data"],
  entryNotAString: ["a number or `true` is the value of an annotation or label"],
};

/** The rows of docs/errors.md, by the heading of their table. */
export const errorRows: Readonly<Record<string, Rows>> = {
  "## In the log": [
    ...textRows(connectionTexts, connectionCells).map(([line = "", ...cells]) => [
      line.replace(/`$/, "; retrying`"),
      ...cells,
    ]),
    ...textRows(workLogMessages, logCells),
  ],
  "## From commands, and when Wave starts": [
    ...textRows(configErrorTexts, configCells),
    ...textRows(commandErrorTexts, commandCells),
  ],
  "### Arguments": [...textRows(argumentErrorTexts, argumentCells), ...textRows(flagErrorTexts, flagCells)],
  "### Flags of wave run": textRows(runErrorTexts, runCells),
  "### Manifests for wave diff": textRows(manifestErrorTexts, manifestCells),
};
