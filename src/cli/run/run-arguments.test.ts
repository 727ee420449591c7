import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import type { Settings } from "../../manager/settings.ts";
import { UsageError } from "../flags/flag-types.ts";
import { type Environment, parseFlags, variableOf } from "../flags/parse-flags.ts";
import { runFlags } from "../flags/run-flags.ts";
import { parseRunArguments } from "./run-arguments.ts";

const noFile = "/does/not/exist";

function settingsOf(args: readonly string[], env: Environment = {}): Settings {
  return parseRunArguments(args, env, noFile);
}

describe("the settings of wave run", () => {
  it("have a default for every flag", () => {
    expect(settingsOf([])).toEqual({
      cluster: { overrides: { insecureSkipTlsVerify: false } },
      besideInstalled: false,
      namespaces: undefined,
      crossNamespace: "granted",
      updateRate: 10,
      updateBurst: 100,
      syncPeriodMs: 300_000,
      metricsBindAddress: "127.0.0.1:8080",
      healthProbeBindAddress: "127.0.0.1:8081",
      logFormat: undefined,
      logLevel: "info",
      schedulingHold: true,
      providerClasses: false,
      pinConfig: false,
      pacing: {
        settleMs: 1_000,
        maxConcurrent: 50,
        soakMs: 10_000,
        haltAfterFailures: 3,
        rolloutTimeoutMs: 600_000,
        observe: false,
        window: undefined,
      },
      webhooks: undefined,
      leaderElection: undefined,
      podNamespace: undefined,
      changed: [],
      withoutEffect: [],
    });
  });

  it("choose the cluster and its credentials as kubectl, and never print the token", () => {
    const args = ["-s", "https://10.0.0.1", "--token=t0ken", "--as=jane", "--as-group=a,b", "--as-group=c"];
    const { cluster, changed } = settingsOf([...args, "--insecure-skip-tls-verify", "--context=prod"]);
    expect(cluster).toEqual({
      context: "prod",
      overrides: {
        server: "https://10.0.0.1",
        token: "t0ken",
        as: "jane",
        asGroups: ["a,b", "c"],
        insecureSkipTlsVerify: true,
      },
    });
    expect(changed).toContain("token=…");
    expect(changed.join()).not.toContain("t0ken");
  });

  it("accept the flags of Reloader, and report those without effect", () => {
    const args = "--compatibility=stakater --auto-reload-all=true --reload-on-create=true --enable-ha=true".split(" ");
    const taken = settingsOf([...args, "--reload-strategy=annotations", "--enable-pprof"], {
      KUBERNETES_NAMESPACE: "shop",
      POD_NAMESPACE: "tools",
    });
    expect(taken).toMatchObject({
      compatibility: { understood: ["stakater"], autoReloadAll: true, reloadOnCreate: true, reloadOnDelete: false },
      namespaces: ["shop"],
      leaderElection: { namespace: "tools" },
      withoutEffect: [
        "--reload-strategy has no effect: only Reloader uses this flag",
        "--enable-pprof has no effect: only Reloader uses this flag",
      ],
    });
    expect(settingsOf([], { KUBERNETES_NAMESPACE: "shop" }).namespaces).toBeUndefined();
  });

  // The arguments that the charts of Reloader render for these values, and the values that its flag parser reads.
  it.each([
    ['--namespace-selector="env=test"', { filters: { namespaces: [{ key: "env", values: ["test"] }] } }],
    ['--namespace-selector="env=test,team=a"', { filters: { namespaces: [{ key: "env" }, { key: "team" }] } }],
    ['--resource-label-selector="env=test"', { filters: { configs: [{ key: "env", values: ["test"] }] } }],
    ['--namespaces-to-ignore="a","b"', { filters: { ignoredNamespaces: ["a", "b"] } }],
    ["--namespaces-to-ignore=a --namespaces-to-ignore=b", { filters: { ignoredNamespaces: ["a", "b"] } }],
    ['--resources-to-ignore="configMaps"', { filters: { ignoredKinds: ["ConfigMap"] } }],
    ["--namespaces-to-ignore= --resources-to-ignore= --ignored-workload-types=", { autoReloadAll: false }],
    ["--namespace-selector= --resource-label-selector=", { autoReloadAll: false }],
    ["--log-format=", { understood: ["stakater"] }],
    ["--log-format=json --log-level=info --enable-pprof --pprof-addr=:6060", { understood: ["stakater"] }],
    ["--resources-to-ignore=configMaps", { filters: { ignoredKinds: ["ConfigMap"] } }],
    ["--resource-label-selector=env=test,tier!=old", { filters: { configs: [{ key: "env" }, { key: "tier" }] } }],
    ["--namespaces-to-ignore=a,b", { filters: { ignoredNamespaces: ["a", "b"] } }],
    ["--ignored-workload-types=jobs,cronjobs --is-Argo-Rollouts=true", { understood: ["stakater"] }],
    ["--auto-reload-all=true --sync-after-restart=true --reload-strategy=env-vars", { autoReloadAll: true }],
    ["--enable-csi-integration=true --namespaces=a,b", { understood: ["stakater"] }],
    ["--reload-on-create true --reload-on-delete false", { reloadOnCreate: true, reloadOnDelete: false }],
    ["--reload-on-create --reload-on-delete=true", { reloadOnCreate: true, reloadOnDelete: true }],
  ])("accept %s, as Reloader does", (args, compatibility) => {
    expect(settingsOf(["--compatibility=stakater", ...args.split(" ")]).compatibility).toMatchObject(compatibility);
  });

  it("refuse misplaced quotation marks, and a word after another boolean flag", () => {
    expect(() => settingsOf(['--namespace-selector="env=test'])).toThrow(/--namespace-selector/);
    expect(() => settingsOf(["--auto-reload-all", "true"])).toThrow(/true/);
  });

  it("report the variables of Reloader for alerts", () => {
    const url = "https://example.com";
    const env = { ALERT_ON_RELOAD: "true", ALERT_SINK: "slack", ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_PROXY: url };
    expect(settingsOf(["--compatibility=stakater"], env).withoutEffect).toEqual(
      Object.keys(env).map((name) => `${name} has no effect: Wave sends notifications with --notify`),
    );
    expect(settingsOf([], env).withoutEffect).toEqual([]);
  });

  it("keep, remove or leave owner references, and report a flag without effect", () => {
    expect(settingsOf([])).toMatchObject({ ownership: undefined, withoutEffect: [] });
    expect(settingsOf(["--migrate-legacy"])).toMatchObject({ ownership: "remove", withoutEffect: [] });
    expect(settingsOf(["--owner-references"])).toMatchObject({ ownership: "keep", withoutEffect: [] });
    expect(settingsOf(["--owner-references", "--migrate-legacy"])).toMatchObject({
      ownership: "keep",
      withoutEffect: [expect.stringMatching(/^--migrate-legacy has no effect/)],
    });
    expect(settingsOf(["--owner-references", "--observe"]).withoutEffect).toEqual([
      expect.stringMatching(/--observe writes nothing$/),
    ]);
  });

  it("apply the filters of Reloader in every compatibility mode", () => {
    expect(settingsOf(["--namespaces-to-ignore=b,a", "--resources-to-ignore=configMaps"]).compatibility).toMatchObject({
      understood: ["wave"],
      filters: {
        ignoredNamespaces: ["a", "b"],
        namespaces: undefined,
        configs: undefined,
        ignoredKinds: ["ConfigMap"],
      },
    });
    const labels = ["--namespace-selector=team:a", "--resource-label-selector=reload:*"];
    expect(settingsOf(labels).compatibility?.filters).toMatchObject({
      namespaces: [{ key: "team", values: ["a"], isNegated: false }],
      configs: [{ key: "reload", values: undefined, isNegated: false }],
    });
    expect(settingsOf([]).compatibility).toBeUndefined();
  });

  it.each([
    "--namespace-selector=a b",
    "--resources-to-ignore=constructor",
    "--resources-to-ignore=secrets,configmaps",
  ])("reject %s", (flag) => expect(() => settingsOf([flag])).toThrow(UsageError));

  const overrides = { insecureSkipTlsVerify: false };
  it.each<{ args: string[]; part: Partial<Settings> }>([
    { args: ["--kubeconfig", "/a b"], part: { cluster: { kubeconfigFlag: "/a b", overrides } } },
    { args: ["--kubeconfig=/a=b"], part: { cluster: { kubeconfigFlag: "/a=b", overrides } } },
    { args: ["-context", "prod"], part: { cluster: { context: "prod", overrides } } },
    { args: ["--namespaces=web,shop, web"], part: { namespaces: ["shop", "web"] } },
    { args: ["--cross-namespace", "none"], part: { crossNamespace: "none" } },
    { args: ["--update-rate=0.5", "--update-burst=1"], part: { updateRate: 0.5, updateBurst: 1 } },
    { args: ["--update-rate=unlimited"], part: { updateRate: Number.POSITIVE_INFINITY } },
    { args: ["--sync-period=1h30m"], part: { syncPeriodMs: 5_400_000 } },
    { args: ["--sync-period", "0"], part: { syncPeriodMs: 0 } },
    { args: ["--sync-period=1m", "--sync-period=2m"], part: { syncPeriodMs: 120_000 } },
    { args: ["--metrics-bind-address=0"], part: { metricsBindAddress: undefined } },
    { args: ["--health-probe-bind-address", "[::1]:80"], part: { healthProbeBindAddress: "[::1]:80" } },
    { args: ["--log-format=text", "--log-level=debug"], part: { logFormat: "text", logLevel: "debug" } },
    { args: ["--log-level=trace"], part: { logLevel: "debug" } },
    { args: ["--log-level=warning"], part: { logLevel: "warn" } },
    { args: ["--log-level=panic"], part: { logLevel: "error" } },
    { args: ["--scheduling-hold=f"], part: { schedulingHold: false } },
    { args: ["--scheduling-hold"], part: { schedulingHold: true } },
    {
      args: ["--settle=0", "--max-concurrent-rollouts=0", "--halt-after-failures=0", "--observe"],
      part: {
        pacing: {
          settleMs: 0,
          maxConcurrent: 0,
          soakMs: 10_000,
          haltAfterFailures: 0,
          rolloutTimeoutMs: 600_000,
          observe: true,
          window: undefined,
        },
      },
    },
    { args: ["--enable-webhooks=0"], part: { webhooks: undefined } },
    {
      args: ["--enable-webhooks", "--webhook-url", "https://127.0.0.1:9443"],
      part: {
        webhooks: {
          bindAddress: ":9443",
          tlsDirectory: undefined,
          clientCaFile: undefined,
          serviceName: "wave-webhook",
          url: new URL("https://127.0.0.1:9443"),
        },
      },
    },
    {
      args: ["--leader-election=T", "--leader-election-namespace=ops", "--leader-election-lease-duration=30s"],
      part: {
        leaderElection: {
          id: "wave",
          namespace: "ops",
          leaseDurationMs: 30_000,
          renewDeadlineMs: 20_000,
          retryPeriodMs: 4_000,
        },
      },
    },
  ])("read $args", ({ args, part }) => {
    expect(settingsOf(args)).toMatchObject(part);
  });

  it("come from environment variables if no flag is given, and an empty variable is not set", () => {
    const env = {
      WAVE_UPDATE_RATE: "3",
      WAVE_SYNC_PERIOD: "",
      WAVE_LEADER_ELECTION: "1",
      POD_NAMESPACE: "wave-system",
    };
    expect(settingsOf([], env)).toMatchObject({ updateRate: 3, syncPeriodMs: 300_000, podNamespace: "wave-system" });
    expect(settingsOf([], env).leaderElection?.namespace).toBe("wave-system");
    expect(settingsOf(["--update-rate=4", "--leader-election=false"], env)).toMatchObject({
      updateRate: 4,
      leaderElection: undefined,
    });
  });

  it("ignore the variables that Kubernetes sets for a Service named wave", () => {
    const env = { WAVE_PORT: "tcp://10.0.0.1:443", WAVE_SERVICE_HOST: "10.0.0.1", WAVE_WEBHOOK_PORT_443_TCP: "tcp://" };
    expect(settingsOf([], env)).toEqual(settingsOf([]));
  });

  it("take the namespace of the Pod from its service account if no variable is set", () => {
    const file = join(mkdtempSync(join(tmpdir(), "wave-settings-")), "namespace");
    writeFileSync(file, "from-file\n");
    expect(parseRunArguments(["--leader-election"], {}, file)).toMatchObject({
      podNamespace: "from-file",
      leaderElection: { namespace: "from-file" },
    });
  });

  it("list the flags with a value other than the default", () => {
    const env = { WAVE_LOG_LEVEL: "warn" };
    expect(settingsOf(["--update-rate=10", "--update-burst=5", "--namespaces=b,a"], env).changed).toEqual([
      "update-burst=5",
      "namespaces=b,a",
      "log-level=warn",
    ]);
  });
});

describe("a mistake in the settings", () => {
  const mistakes: { args: string[]; env?: Environment; message: string }[] = [
    { args: ["--update-rat=5"], message: 'unknown flag "--update-rat"; did you mean --update-rate?' },
    { args: ["--zzzzzzzzzzz"], message: 'unknown flag "--zzzzzzzzzzz"; --help-all lists all flags' },
    { args: ["--__proto__=1"], message: 'unknown flag "--__proto__"; --help-all lists all flags' },
    { args: ["---x"], message: 'invalid flag "---x"' },
    { args: ["--kubeconfig"], message: "--kubeconfig has no value; use a text of at least one character" },
    {
      args: ["--kubeconfig", "--context=x"],
      message: "--kubeconfig has no value; use a text of at least one character",
    },
    { args: ["--kubeconfig="], message: 'invalid --kubeconfig: ""; use a text of at least one character' },
    {
      args: ["--sync-period=5"],
      message:
        'invalid --sync-period: "5"; use a duration from 1s to 596h, such as 1500ms, 5m or 1h30m, or 0 for no resync',
    },
    { args: ["--sync-period=1ns"], message: 'invalid --sync-period: "1ns"; use a duration from 1s to 596h' },
    { args: ["--sync-period=9999h"], message: 'invalid --sync-period: "9999h"; use a duration from 1s to 596h' },
    {
      args: [],
      env: { WAVE_UPDATE_RATE: "fast" },
      message: 'invalid WAVE_UPDATE_RATE: "fast"; use a number above 0, such as 10 or 0.5',
    },
    {
      args: ["--update-rate=0"],
      message:
        'invalid --update-rate: "0"; use a number above 0, such as 10 or 0.5, or "unlimited"; to stop Wave, scale it to 0 replicas',
    },
    { args: ["--update-burst=0"], message: 'invalid --update-burst: "0"; use a whole number from 1 to 999999999' },
    { args: ["--settle=-1s"], message: 'invalid --settle: "-1s"; use a duration from 1ms to 596h' },
    {
      args: ["--window=Mon-Fri 22:00-04:00 Europe/Berln"],
      message: `invalid --window: "Mon-Fri 22:00-04:00 Europe/Berln"; use DAYS HH:MM-HH:MM and a time zone, such as "Mon-Fri 22:00-04:00 Europe/Berlin", or several separated by semicolons`,
    },
    {
      args: ["--max-concurrent-rollouts=all"],
      message: '"all"; use a whole number from 1 to 999999999, or 0 for no batches, all at once',
    },
    { args: ["--scheduling-hold=yes"], message: 'invalid --scheduling-hold: "yes"; use true or false' },
    { args: ["--log-level=verbose"], message: 'invalid --log-level: "verbose"; use one of debug, info, warn, error' },
    {
      args: ["--namespaces=Web"],
      message: 'invalid --namespaces: "Web"; use a comma-separated list of namespace names',
    },
    { args: ["--namespaces="], message: 'invalid --namespaces: ""; use a comma-separated list' },
    {
      args: ["--gate-prometheus-url=http://a/?b=c"],
      message: 'invalid --gate-prometheus-url: "http://a/?b=c"; use an http or https URL without a user, a query',
    },
    { args: ["--metrics-bind-address=8080"], message: '"8080"; use an address such as :8080, 127.0.0.1:8080' },
    {
      args: ["--enable-webhooks", "--webhook-bind-address=0"],
      message: 'invalid --webhook-bind-address: "0"; use an address',
    },
    {
      args: ["--webhook-url=https://x"],
      message: "--webhook-url has no effect without --enable-webhooks; add --enable-webhooks",
    },
    {
      args: [],
      env: { WAVE_WEBHOOK_TLS_DIRECTORY: "/x" },
      message: "WAVE_WEBHOOK_TLS_DIRECTORY has no effect without --enable-webhooks; add --enable-webhooks",
    },
    {
      args: ["--webhook-client-ca-file=/x"],
      message: "--webhook-client-ca-file has no effect without --enable-webhooks; add --enable-webhooks",
    },
    { args: ["--enable-webhooks", "--webhook-url=http://x:1"], message: '"http://x:1"; use an https URL with a host' },
    { args: ["--enable-webhooks", "--webhook-url=https://a:b@x"], message: "use an https URL with a host and a port" },
    {
      args: ["--leader-election-id=x"],
      message: "--leader-election-id has no effect without --leader-election; add --leader-election",
    },
    { args: ["--leader-election"], message: "--leader-election needs --leader-election-namespace outside a Pod" },
    {
      args: ["--leader-election", "true"],
      message: 'unexpected argument "true"; write the value of a boolean flag after "="',
    },
    { args: ["now"], message: 'unexpected argument "now"' },
    {
      args: ["--health-probe-bind-address=127.0.0.1:8080"],
      message:
        "--metrics-bind-address and --health-probe-bind-address have the same address 127.0.0.1:8080; use two ports",
    },
  ];

  it.each(mistakes)("reports $message", ({ args, env, message }) => {
    expect(() => settingsOf(args, env)).toThrow(UsageError);
    expect(() => settingsOf(args, env)).toThrow(message);
  });

  it("is a UsageError with one line for any arguments and variables", () => {
    const names = Object.keys(runFlags);
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("true", "0", "5m", "a,b", ":80", "https://a:1"),
    );
    const arg = fc.oneof(
      fc.string({ unit: "binary" }),
      value,
      fc
        .tuple(fc.constantFrom("-", "--"), fc.constantFrom(...names), value)
        .map(([dash, name, v]) => `${dash}${name}=${v}`),
      fc.constantFrom(...names).map((name) => `--${name}`),
    );
    const env = fc.dictionary(fc.constantFrom(...names.map(variableOf)), value, { maxKeys: 3 });
    fc.assert(
      fc.property(fc.array(arg, { maxLength: 6 }), env, (args, variables) => {
        try {
          parseRunArguments(args, variables, noFile);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          expect(error instanceof Error && error.message).toMatch(/^[^\p{Cc}\u2028\u2029]{5,600}$/u);
        }
      }),
      { numRuns: inject("everything") ? 1000 : 300 },
    );
  });
});

describe("help and version", () => {
  it.each(["--help", "-h", "-help"])("%s takes precedence over every check", (flag) => {
    expect(parseFlags(runFlags, ["--enable-webhooks=false", flag, "--sync-period=x"], {})).toEqual({
      action: "help",
      scope: "usual",
    });
  });

  it("--version shows the version", () => {
    expect(parseFlags(runFlags, ["--version"], {})).toEqual({ action: "version" });
  });
});
