import { readFileSync } from "node:fs";
import { quoted } from "../../domain/syntax/names.ts";
import { electionTimings } from "../../manager/leader-election/lease.ts";
import type { AlertGateSettings, LeaderElectionSettings, Settings, WebhookSettings } from "../../manager/settings.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { compatibilitySettings, wantedKinds, withoutEffectLines } from "../flags/compatibility-flags.ts";
import { chosenCluster } from "../flags/connection-flags.ts";
import { UsageError } from "../flags/flag-types.ts";
import { pacingSettings } from "../flags/pacing-flags.ts";
import {
  type Arguments,
  type Environment,
  type FlagValues,
  flagErrorTexts,
  type GivenFlag,
  parseArguments,
} from "../flags/parse-flags.ts";
import { ownershipOf, runFlags } from "../flags/run-flags.ts";

const serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/** Parses arguments and environment variables of `wave run` and returns their {@link runSettings}. Throws a UsageError also for a request for help. */
export function parseRunArguments(args: readonly string[], env: Environment, namespaceFile?: string): Settings {
  return runSettings(parseArguments(runFlags, args, env), env, namespaceFile);
}

/**
 * Returns the settings of a call of `wave run`. `namespaceFile` contains the namespace of the Pod, for when POD_NAMESPACE is not set.
 * @throws UsageError with one line, and nothing else, for values that contradict each other.
 */
export function runSettings(
  { given, positionals, ...parsed }: Arguments<typeof runFlags>,
  env: Environment,
  namespaceFile: string = serviceAccountNamespace,
): Settings {
  const podNamespace = env.POD_NAMESPACE || readNamespace(namespaceFile);
  const isInCluster = podNamespace !== undefined || env.KUBERNETES_SERVICE_HOST !== undefined;
  const values = isInCluster ? parsed.values : withLocalAddresses(parsed.values, given);
  refusePositionals(positionals);
  refuseUnusedFlags(values, given);
  refuseSharedAddresses(values);
  const compatibility = compatibilitySettings(values);
  return {
    cluster: chosenCluster(values),
    besideInstalled: values["beside-installed"],
    namespaces: values.namespaces ?? namespacesFromReloader(compatibility, env),
    compatibility,
    workloadKinds: wantedKinds(values),
    ownership: ownershipOf(values),
    crossNamespace: values["cross-namespace"],
    firstSight: values["first-sight"],
    updateRate: values["update-rate"],
    updateBurst: values["update-burst"],
    syncPeriodMs: values["sync-period"],
    metricsBindAddress: unlessOff(values["metrics-bind-address"]),
    healthProbeBindAddress: unlessOff(values["health-probe-bind-address"]),
    logFormat: values["log-format"],
    logLevel: values["log-level"],
    notify: values.notify,
    schedulingHold: values["scheduling-hold"],
    hashKeySecret: values["hash-key-secret"],
    providerClasses: values["enable-csi-integration"],
    pinConfig: values["pin-config"],
    pacing: pacingSettings(values),
    alertGate: gateSettings(values),
    webhooks: webhookSettings(values),
    leaderElection: leaderElectionSettings(values, podNamespace),
    podNamespace,
    changed: changedFlags(values, given),
    withoutEffect: [
      ...withoutEffectLines(given),
      ...unusedAlertLines(compatibility, env),
      ...unusedOwnershipLines(values),
    ],
  };
}

type Values = FlagValues<typeof runFlags>;

/** Returns the namespace of KUBERNETES_NAMESPACE, with which Reloader watches one namespace. */
function namespacesFromReloader(
  compatibility: Settings["compatibility"],
  { KUBERNETES_NAMESPACE: namespace = "" }: Environment,
): readonly string[] | undefined {
  if (namespace === "" || !compatibility?.understood.includes("stakater")) return undefined;
  return runFlags.namespaces.parse(namespace) ?? refuseNamespace(namespace);
}

/** The variables with which Reloader sends a message for each reload. */
const alertVariables = [
  "ALERT_ON_RELOAD",
  "ALERT_SINK",
  "ALERT_WEBHOOK_URL",
  "ALERT_WEBHOOK_PROXY",
  "ALERT_ADDITIONAL_INFO",
];

/** Returns one line for each variable of Reloader for alerts: their messages have another form. */
function unusedAlertLines(compatibility: Settings["compatibility"], env: Environment): readonly string[] {
  if (!compatibility?.understood.includes("stakater")) return [];
  return alertVariables.filter((name) => (env[name] ?? "") !== "").map(logMessages.variableIdle);
}

function refuseNamespace(text: string): never {
  throw new UsageError(flagErrorTexts.invalidValue("KUBERNETES_NAMESPACE", text, runFlags.namespaces.allowed));
}

function unlessOff(address: string): string | undefined {
  return address === "0" ? undefined : address;
}

function readNamespace(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch {
    return undefined; // not in a Pod, or a Pod without a service account token
  }
}

function webhookSettings(values: Values): WebhookSettings | undefined {
  if (!values["enable-webhooks"]) return undefined;
  return {
    bindAddress: values["webhook-bind-address"],
    tlsDirectory: values["webhook-tls-directory"],
    clientCaFile: values["webhook-client-ca-file"],
    serviceName: values["webhook-service-name"],
    url: values["webhook-url"],
  };
}

function gateSettings(values: Values): AlertGateSettings | undefined {
  const url = values["gate-prometheus-url"];
  if (url === undefined) return undefined;
  return {
    url: new URL(url),
    tokenFile: values["gate-prometheus-token-file"],
    caFile: values["gate-prometheus-ca-file"],
    isRequired: values["gate-required"],
  };
}

function leaderElectionSettings(values: Values, podNamespace: string | undefined): LeaderElectionSettings | undefined {
  if (!values["leader-election"] && !values["enable-ha"]) return undefined;
  const namespace = values["leader-election-namespace"] ?? podNamespace;
  if (namespace === undefined) throw new UsageError(runErrorTexts.noLeaseNamespace);
  return {
    id: values["leader-election-id"],
    namespace,
    ...electionTimings(values["leader-election-lease-duration"]),
  };
}

/** Returns one line if other flags leave an ownership flag without effect. */
function unusedOwnershipLines(values: Values): readonly string[] {
  if (values.observe && ownershipOf(values) !== undefined) return [logMessages.ownershipNotWritten];
  return values["owner-references"] && values["migrate-legacy"] ? [logMessages.migrateLegacyIdle] : [];
}

function refusePositionals(positionals: readonly string[]): void {
  const [first] = positionals;
  if (first === undefined) return;
  if (["true", "false", "0", "1"].includes(first)) throw new UsageError(runErrorTexts.surplusBoolean(first));
  throw new UsageError(runErrorTexts.surplusWord(first));
}

/** Refuses a flag that cannot have an effect, because its author expects one. */
function refuseUnusedFlags(values: Values, given: ReadonlyMap<string, GivenFlag>): void {
  for (const [name, { source }] of given) {
    const needs = name.startsWith("webhook-")
      ? "enable-webhooks"
      : name.startsWith("leader-election-")
        ? "leader-election"
        : name.startsWith("gate-") && name !== "gate-prometheus-url"
          ? "gate-prometheus-url"
          : undefined;
    if (needs === "leader-election" && values["enable-ha"]) continue;
    if (needs !== undefined && !values[needs]) throw new UsageError(runErrorTexts.noEffect(source, needs));
  }
}

/** Returns the values for a machine outside of a cluster: by default, only this machine reads metrics and probes. */
function withLocalAddresses(values: Values, given: ReadonlyMap<string, GivenFlag>): Values {
  const local = (name: "metrics-bind-address" | "health-probe-bind-address") =>
    given.has(name) ? values[name] : `127.0.0.1${values[name]}`;
  return {
    ...values,
    "metrics-bind-address": local("metrics-bind-address"),
    "health-probe-bind-address": local("health-probe-bind-address"),
  };
}

function refuseSharedAddresses(values: Values): void {
  const served = new Map<string, string>();
  for (const name of ["metrics-bind-address", "health-probe-bind-address", "webhook-bind-address"] as const) {
    const address = values[name];
    const off = address === "0" || address.endsWith(":0") || (name.startsWith("webhook") && !values["enable-webhooks"]);
    const other = served.get(address);
    if (!off && other !== undefined) throw new UsageError(runErrorTexts.sameAddress(other, name, address));
    if (!off) served.set(address, name);
  }
}

function changedFlags(values: Values, given: ReadonlyMap<string, GivenFlag>): readonly string[] {
  return [...given].flatMap(([name, { text }]) => {
    const row = Object.entries(runFlags).find(([each]) => each === name)?.[1];
    const value = Object.entries(values).find(([each]) => each === name)?.[1];
    return value === row?.default ? [] : [`${name}=${row !== undefined && "isSecret" in row ? "…" : text}`];
  });
}

/** The errors about the flags of `wave run`, one line each. */
export const runErrorTexts = {
  noEffect: (source: string, needs: string) => `${source} has no effect without --${needs}; add --${needs}`,
  sameAddress: (one: string, other: string, address: string) =>
    `--${one} and --${other} have the same address ${address}; use two ports`,
  noLeaseNamespace: "--leader-election needs --leader-election-namespace outside a Pod",
  surplusWord: (word: string) => `unexpected argument ${quoted(word)}; wave run takes only flags`,
  surplusBoolean: (word: string) =>
    `unexpected argument ${quoted(word)}; write the value of a boolean flag after "=", for example --leader-election=${word}`,
  secondWave: (wave: string) =>
    `${wave} already rolls the same workloads, which would roll twice. To only look, add --observe. To start anyway, add --beside-installed`,
  onlyController: (word: string) =>
    `this image has only the controller, not ${quoted(word)}; run other commands with wave on your machine`,
} as const;
