import { quoted } from "../../domain/syntax/wording.ts";

/** The errors about the arguments of commands, one line each. */
export const argumentErrorTexts = {
  unknownCommand: (word: string) => `unknown command ${quoted(word)}; wave help lists all commands`,
  misspeltCommand: (word: string, meant: string) => `unknown command ${quoted(word)}; did you mean ${meant}?`,
  noWorkload: "no workload named; use KIND/NAME, for example deployment/web",
  noObject: "no object named; use KIND/NAME, for example deployment/web",
  noName: (kind: string, example: string) => `no ${kind} named; add a name, for example ${example}/web`,
  tooManyWorkloads: (word: string) => `too many workloads; this command takes one, remove ${quoted(word)}`,
  twoSlashes: (word: string, kind: string) =>
    `${quoted(word)} has two slashes; use one KIND/NAME for each object, for example ${kind}/web`,
  noKind: (word: string, name: string) => `${quoted(word)} has no kind; use KIND/NAME, for example deployment/${name}`,
  notAKind: (word: string) => `${quoted(word)} is not a kind; use KIND/NAME, for example deployment/web`,
  invalidName: (name: string, kind: string) =>
    `${quoted(name)} is not a valid ${kind} name; use lower-case letters, digits, dashes and dots`,
  unsupportedKind: (kind: string, accepted: string) =>
    `unsupported kind ${quoted(kind)}; this command accepts ${accepted}`,
  unsupportedWorkloadKind: (kind: string, accepted: string) =>
    `unsupported kind ${quoted(kind)}; this command accepts ${accepted}. Write a kind of --workload-kinds with its group, for example rollouts.argoproj.io/web`,
  twoNamespaces: (namespace: string, name: string) =>
    `-n ${namespace} contradicts namespace/${name}; remove one of the two`,
  surplusWithCluster: (word: string) => `unexpected argument ${quoted(word)}; --cluster is about all objects`,
  noAllNamespaces: (command: string, example: string) =>
    `wave ${command} does not support -A; name each object, for example: ${example}`,
  clusterForAll: (command: string) =>
    `wave ${command} does not support -A; for every rollout run wave ${command} --cluster, or name each object`,
  surplusOfList: (word: string) =>
    `unexpected argument ${quoted(word)}; wave list takes only flags. For one workload run: wave explain KIND/NAME`,
  surplusOfUi: (word: string) => `unexpected argument ${quoted(word)}; wave ui takes only flags, such as -n NAMESPACE`,
  contextOfFleet: (flag: string) => `--${flag} and --contexts exclude each other; use one of the two`,
  watchForProgram: (output: string) => `-w has no ${output} output; use -o table or wide`,
  surplusNamespace: (word: string) => `unexpected argument ${quoted(word)}; use -n NAMESPACE or -A`,
  noScope: "no namespace given; use -n NAMESPACE, or -A for all namespaces",
  surplusFile: (word: string) => `unexpected argument ${quoted(word)}; use -f ${word}`,
  noRevisionNumber: (word: string) =>
    `${quoted(word)} needs --revision NUMBER; wave history ${word} lists the revisions. For manifests, use -f FILE`,
  revisionOrFile: "--revision and -f exclude each other; use one of the two",
  revisionMarkdown: "--revision has no Markdown output; use -o table, json or yaml",
  valuesOfRevision: "--show-values needs --revision NUMBER",
  uiOfDemo: "--ui runs on its own cluster; remove --keep, --kubeconfig and --context. For your cluster run: wave ui",
  surplusOfDemo: (word: string) => `unexpected argument ${quoted(word)}; see wave demo --help`,
  noShell: (shells: string) => `no shell given; use ${shells}`,
  unknownShell: (word: string, shells: string) => `${quoted(word)} is not a supported shell; use ${shells}`,
  noDryRun:
    "wave migrate only previews; add --dry-run. To migrate, start Wave with --compatibility: wave help migration",
} as const;

/** The errors of commands that have read the cluster, one line each. */
export const commandErrorTexts = {
  notFound: (kind: string, name: string, namespace: string, source: string) =>
    `${kind} "${name}" not found in namespace "${namespace}" (${source}). Check -n and --context.`,
  notFoundInCluster: (kind: string, name: string, source: string) =>
    `${kind} "${name}" not found (${source}). Check --context.`,
  noPage: "The page of wave ui is not built. Run: bin/wave ui.",
  portInUse: (port: number, error: string) => `Cannot listen on 127.0.0.1:${port}: ${error}. Choose another --port.`,
  kindNotRolled: (kind: string) =>
    `Wave does not roll ${kind} in this cluster. Either --workload-kinds of "wave run" does not name this kind, or the cluster does not serve it.`,
  noRevisions: (kind: string) =>
    `Kubernetes keeps no revisions of ${kind}. Use a Deployment, StatefulSet, DaemonSet or Rollout.`,
  noRevision: (object: string, revision: string, known: string) =>
    `${object} has no revision ${revision}. Known revisions: ${known}.`,
  revisionNotPinned: (object: string, revision: string) =>
    `revision ${revision} of ${object} is not pinned, so its configuration is not stored. See wave history ${object}.`,
  partlyWritten: (written: string) => `Already written: ${written}. Run the command again for the other objects.`,
  noReader: (object: string) => `no workload that opted in reads ${object}. Check -n and --context.`,
  readersUnknown: (object: string, cause: string) =>
    `incomplete: other workloads may read ${object} and may have failed. Cause: ${cause}.`,
  wavesUnknown: (cause: string) =>
    `cannot find the Namespace of Wave: ${cause}. Pass it with -n, for example: -n wave-system.`,
  noWave:
    "no Wave found: no Deployment with the label app.kubernetes.io/name=wave runs it. Pass the Namespace of Wave with -n.",
  notPassed: (object: string, hold: string, message: string) =>
    `${object} not requested: wave roll does not end the hold ${quoted(hold)}. ${message}`,
  hashUnknown: (cause: string) =>
    `the hash to approve is unknown. ${cause} Take its first 8 digits from the Event RolloutHeld and write them to the annotation wave.pusher.com/approved.`,
  helpRequested: (action: string) => `the arguments request ${action}`,
} as const;
