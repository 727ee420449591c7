import { readFileSync } from "node:fs";
import { quoted } from "../../domain/syntax/wording.ts";
import { mistakeInTimings } from "../../manager/leader-election/lease.ts";
import type { LeaderElectionSettings, Settings, WebhookSettings } from "../../manager/settings.ts";
import { compatibilitySettings, withoutEffect } from "../flags/compatibility-flags.ts";
import { wantedKinds } from "../flags/kind-flags.ts";
import { pacingSettings } from "../flags/pacing-flags.ts";
import { type Environment, type FlagValues, type Given, parseFlags } from "../flags/parse-flags.ts";
import { ownershipOf, runFlags } from "../flags/run-flags.ts";
import { UsageError } from "../flags/usage-error.ts";

/** What `wave run` was asked to do. */
export type RunRequest =
  | { readonly asks: "help" }
  | { readonly asks: "version" }
  | { readonly asks: "run"; readonly settings: Settings };

/** The environment of this process. Everything else gets what it needs from here. */
export function processEnvironment(): Environment {
  return process.env;
}

const serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/**
 * Reads what `wave run` was told by flags and environment variables.
 * Throws a UsageError of one line, and nothing else, for what is not allowed or does not go together.
 * `namespaceFile` is where a Pod finds its own namespace when POD_NAMESPACE does not say it.
 */
export function readRunRequest(
  args: readonly string[],
  env: Environment,
  namespaceFile: string = serviceAccountNamespace,
): RunRequest {
  const parsed = parseFlags(runFlags, args, env);
  if (parsed.asks !== "run") return parsed;
  const { values, given, positionals } = parsed;
  refusePositionals(positionals);
  refuseWithoutEffect(values, given);
  refuseSharedAddresses(values);
  const podNamespace = env.POD_NAMESPACE || readNamespace(namespaceFile);
  const compatibility = compatibilitySettings(values);
  return {
    asks: "run",
    settings: {
      kubeconfig: values.kubeconfig,
      context: values.context,
      namespaces: values.namespaces ?? namespacesOfReloader(compatibility, env),
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
      pacing: pacingSettings(values),
      webhooks: webhookSettings(values),
      leaderElection: leaderElectionSettings(values, podNamespace),
      podNamespace,
      changed: changedFlags(values, given),
      withoutEffect: [...withoutEffect(given), ...withoutOwnership(values)],
    },
  };
}

type Values = FlagValues<typeof runFlags>;

/** A Deployment of Reloader that watches one namespace says so by a variable. */
function namespacesOfReloader(
  compatibility: Settings["compatibility"],
  { KUBERNETES_NAMESPACE: namespace = "" }: Environment,
): readonly string[] | undefined {
  if (namespace === "" || !compatibility?.understood.includes("stakater")) return undefined;
  return runFlags.namespaces.parse(namespace) ?? refuseNamespace(namespace);
}

function refuseNamespace(text: string): never {
  throw new UsageError(`KUBERNETES_NAMESPACE: ${quoted(text)} is not ${runFlags.namespaces.allowed}`);
}

function unlessOff(address: string): string | undefined {
  return address === "0" ? undefined : address;
}

function readNamespace(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch {
    return undefined; // not in a Pod, or one without a service account's token
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

function leaderElectionSettings(values: Values, podNamespace: string | undefined): LeaderElectionSettings | undefined {
  if (!values["leader-election"] && !values["enable-ha"]) return undefined;
  const namespace = values["leader-election-namespace"] ?? podNamespace;
  if (namespace === undefined)
    throw new UsageError(
      "--leader-election needs --leader-election-namespace here: this is no Pod whose namespace could be taken",
    );
  const settings = {
    id: values["leader-election-id"],
    namespace,
    leaseDurationMs: values["leader-election-lease-duration"],
    renewDeadlineMs: values["leader-election-renew-deadline"],
    retryPeriodMs: values["leader-election-retry-period"],
  };
  const mistake = mistakeInTimings(settings);
  if (mistake !== undefined) throw new UsageError(mistake);
  return settings;
}

/** One line where a flag about owner references is without effect beside others. */
function withoutOwnership(values: Values): readonly string[] {
  if (values.observe && ownershipOf(values) !== undefined)
    return ["owner references and finalizers stay as they are: --observe writes nothing"];
  return values["owner-references"] && values["migrate-legacy"]
    ? ["--migrate-legacy has no effect: --owner-references has the same owner references and finalizers"]
    : [];
}

function refusePositionals(positionals: readonly string[]): void {
  const [first] = positionals;
  if (first === undefined) return;
  const boolean = ["true", "false", "0", "1"].includes(first);
  throw new UsageError(
    `${quoted(first)} is not a flag${boolean ? `; a flag that is on or off takes its value after "=": --leader-election=${first}` : ""}`,
  );
}

/** A setting that cannot have an effect is a mistake that somebody would look for in vain. */
function refuseWithoutEffect(values: Values, given: ReadonlyMap<string, Given>): void {
  for (const [name, { source }] of given) {
    const needs = name.startsWith("webhook-")
      ? "enable-webhooks"
      : name.startsWith("leader-election-")
        ? "leader-election"
        : undefined;
    if (needs === "leader-election" && values["enable-ha"]) continue;
    if (needs !== undefined && !values[needs]) throw new UsageError(`${source} needs --${needs}`);
  }
}

function refuseSharedAddresses(values: Values): void {
  const served = new Map<string, string>();
  for (const name of ["metrics-bind-address", "health-probe-bind-address", "webhook-bind-address"] as const) {
    const address = values[name];
    const off = address === "0" || address.endsWith(":0") || (name.startsWith("webhook") && !values["enable-webhooks"]);
    const other = served.get(address);
    if (!off && other !== undefined) throw new UsageError(`--${other} and --${name} are both ${address}`);
    if (!off) served.set(address, name);
  }
}

function changedFlags(values: Values, given: ReadonlyMap<string, Given>): readonly string[] {
  return [...given].flatMap(([name, { text }]) => {
    const row = Object.entries(runFlags).find(([each]) => each === name)?.[1];
    const value = Object.entries(values).find(([each]) => each === name)?.[1];
    return value === row?.default ? [] : [`${name}=${text}`];
  });
}
