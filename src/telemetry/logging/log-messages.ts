/**
 * The messages of the log with level `warn` or `error`, by area. Constant texts, so that one problem has one message: what varies is in
 * fields, except a few words. docs/events.md is made from this table.
 */
export const logMessages = {
  // API server
  apiServerUnavailable: (problem: string) => `${problem}; retrying`,
  apiServerSilent: "the API server does not respond; until it responds, Wave rolls nothing",
  watchRefused: (state: string) => `cannot watch a resource: ${state}`,
  watchFailed: "cannot watch a resource; retrying",
  listItemSkipped: "skipped a list item that is not an object",
  watchLineSkipped: "skipped a line of a watch that is not an event",
  objectWithoutName: "ignored an object without a name",
  malformedObject: "ignored a malformed object",
  malformedWorkload: "ignored a malformed workload",
  namespaceNotListed: "cannot list the workloads of a namespace that opted in or out; retrying",
  kindCheckFailed: "cannot check whether the API server serves a kind of workload; retrying",
  templateUnread: "cannot read the pod template of a workloadRef; retrying",
  eventNotWritten: "cannot write an Event",

  // Leader
  leaseNotWritten: (action: string) => `cannot ${action} the Lease; retrying`,
  leaderWorkFailed: "the work of the previous leader failed while it stopped",
  leaseNotReleased: "cannot release the Lease; another replica acquires it when it has expired",
  leadershipLost: "this replica no longer leads",

  // Rollouts
  writeRefused: "write refused; retrying",
  writeUnanswered: "API server unavailable; retrying",
  changeHalted: "rollout of a change halted",
  rolloutFailed: "a rollout failed",
  canaryPodsUnread: "cannot read the Pods of a canary; retrying",
  alertsAway: "Prometheus does not answer the query for alerts; rollouts continue without the alert gate",
  alertsAwayHeld: "Prometheus does not answer the query for alerts; rollouts wait because of --gate-required",
  planFailed: "bug: cannot plan a workload; retrying",
  pendingPodsKept: "cannot replace pending Pods; retrying",
  jobNotReplaced: "cannot create a deleted Job again; retrying",
  ownersNotWritten: "cannot write owner references; retrying",
  mixedPodsKept: "cannot read the Pods that may run configuration that was reverted; retrying",
  mixedPodsLeft: "Pods still seem to run another configuration after a rollout: clocks differ",
  stateNotWritten: "cannot write the state of a workload into its annotations; retrying",
  copiesNotSwept: "cannot check which pinned copies are unused; retrying",
  copyNotWritten: "the API server refuses the write of a pinned copy",
  copyLost: "a pinned copy is gone, and its ConfigMap has another content",
  ownersReverted: "another client keeps reverting owner references; writing less often",

  // Hash key
  hashKeyUnknown: "cannot read the hash key; no workload is rolled until it can be read",
  hashKeyStale: "cannot read the hash key; continuing with the known keys",

  // Webhook
  certificatesNotUpdated: "cannot update the webhook's certificates; retrying",
  certificateUnusable: "cannot use the new webhook certificate; serving the previous one",
  webhookUnregistered:
    "no API server calls the webhook: MutatingWebhookConfiguration not found; install it, or set --webhook-service-name, or outside the cluster --webhook-url",
  webhookElsewhere:
    "no API server calls the webhook: the MutatingWebhookConfiguration does not name its Service; correct clientConfig.service",
  registrationNotDeleted: "cannot delete the MutatingWebhookConfiguration; delete it with kubectl",
  webhookWatchEnded: "a watch of the webhook ended unexpectedly",
  configurationUnread: "cannot read the configuration of a workload; it is allowed unchanged",
  reviewFailed: "the review failed; the request is allowed unchanged",

  // Notifications
  notificationDelayed: "cannot send a notification; retrying",
  notificationLost: "cannot send a notification; no further attempt",
  notificationsUnsent: "stopped before all notifications were sent",

  // Flags and process
  ownershipNotWritten: "owner references and finalizers are not changed: --observe writes nothing",
  migrateLegacyIdle:
    "--migrate-legacy has no effect: --owner-references maintains the same owner references and finalizers",
  flagIdle: (flag: string) => `--${flag} has no effect: only Reloader uses this flag`,
  variableIdle: (name: string) => `${name} has no effect: Wave sends notifications with --notify`,
  secondSignal: "exiting now after a second signal",
  bug: (error: string) => `bug: ${error}`,
} as const;

/**
 * Returns an error as one line: its message and the messages of its causes, joined by colons, without repetitions. The first error
 * in an AggregateError (such as a connection to several addresses) is its cause.
 */
export function errorText(error: unknown): string {
  const messages: string[] = [];
  collectMessages(error, messages, new Set());
  return messages.join(": ").replace(/\s*[\r\n]+\s*/g, " ") || "unknown error";
}

function collectMessages(error: unknown, messages: string[], seen: Set<unknown>): void {
  if (error === undefined || error === null || seen.has(error)) return;
  seen.add(error);
  const message = error instanceof Error ? error.message || ("code" in error ? String(error.code) : "") : String(error);
  if (message !== "" && !messages.some((earlier) => earlier.includes(message))) messages.push(message);
  if (error instanceof AggregateError && error.cause === undefined) collectMessages(error.errors[0], messages, seen);
  if (error instanceof Error) collectMessages(error.cause, messages, seen);
}
