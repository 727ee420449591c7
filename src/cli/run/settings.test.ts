import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Settings } from "../../manager/settings.ts";
import { type Environment, variableOf } from "../flags/parse-flags.ts";
import { runFlags } from "../flags/run-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import { readRunRequest } from "./settings.ts";

const noFile = "/does/not/exist";

function settings(args: readonly string[], env: Environment = {}): Settings {
  const request = readRunRequest(args, env, noFile);
  if (request.asks !== "run") throw new Error(`asked for ${request.asks}`);
  return request.settings;
}

describe("the settings of wave run", () => {
  it("have defaults for everything", () => {
    expect(settings([])).toEqual({
      kubeconfig: undefined,
      context: undefined,
      namespaces: undefined,
      crossNamespace: "granted",
      updateRate: 10,
      updateBurst: 100,
      syncPeriodMs: 300_000,
      metricsBindAddress: ":8080",
      healthProbeBindAddress: ":8081",
      logFormat: undefined,
      logLevel: "info",
      schedulingHold: true,
      providerClasses: false,
      pacing: {
        settleMs: 1_000,
        settleMaxMs: 10_000,
        maxConcurrent: 50,
        canarySize: 1,
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

  it("of another controller are taken as it has them, and those that have no effect here say so", () => {
    const args = "--compatibility=stakater --auto-reload-all=true --reload-on-create=true --enable-ha=true".split(" ");
    const taken = settings([...args, "--reload-strategy=annotations", "--enable-pprof"], {
      KUBERNETES_NAMESPACE: "shop",
      POD_NAMESPACE: "tools",
    });
    expect(taken).toMatchObject({
      compatibility: { understood: ["stakater"], autoReloadAll: true, reloadOnCreate: true, reloadOnDelete: false },
      namespaces: ["shop"],
      leaderElection: { namespace: "tools" },
      withoutEffect: [
        "--reload-strategy has no effect: Wave has one way, the hash in an annotation of the pod template",
        "--enable-pprof has no effect: Wave is no Go program",
      ],
    });
    expect(settings([], { KUBERNETES_NAMESPACE: "shop" }).namespaces).toBeUndefined();
  });

  it("keep owner references, or remove them, or leave them; and what then has no effect is told", () => {
    expect(settings([])).toMatchObject({ ownership: undefined, withoutEffect: [] });
    expect(settings(["--migrate-legacy"])).toMatchObject({ ownership: "remove", withoutEffect: [] });
    expect(settings(["--owner-references"])).toMatchObject({ ownership: "keep", withoutEffect: [] });
    expect(settings(["--owner-references", "--migrate-legacy"])).toMatchObject({
      ownership: "keep",
      withoutEffect: [expect.stringMatching(/^--migrate-legacy has no effect/)],
    });
    expect(settings(["--owner-references", "--observe"]).withoutEffect).toEqual([
      expect.stringMatching(/--observe writes nothing$/),
    ]);
  });

  it("of another controller that leave something out hold in every compatibility mode", () => {
    expect(settings(["--namespaces-to-ignore=b,a", "--resources-to-ignore=configMaps"]).compatibility).toMatchObject({
      understood: ["wave"],
      filters: {
        ignoredNamespaces: ["a", "b"],
        namespaces: undefined,
        configs: undefined,
        ignoredKinds: ["ConfigMap"],
      },
    });
    const labels = ["--namespace-selector=team:a", "--resource-label-selector=reload:*"];
    expect(settings(labels).compatibility?.filters).toMatchObject({
      namespaces: [{ key: "team", operator: "in", values: ["a"] }],
      configs: [{ key: "reload", operator: "exists" }],
    });
    expect(settings([]).compatibility).toBeUndefined();
  });

  it.each([
    "--namespace-selector=a b",
    "--resources-to-ignore=constructor",
    "--resources-to-ignore=secrets,configmaps",
  ])("refuses %s", (flag) => expect(() => settings([flag])).toThrow(UsageError));

  it.each<{ args: string[]; part: Partial<Settings> }>([
    { args: ["--kubeconfig", "/a b"], part: { kubeconfig: "/a b" } },
    { args: ["--kubeconfig=/a=b"], part: { kubeconfig: "/a=b" } },
    { args: ["-context", "prod"], part: { context: "prod" } },
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
    { args: ["--scheduling-hold=f"], part: { schedulingHold: false } },
    { args: ["--scheduling-hold"], part: { schedulingHold: true } },
    {
      args: ["--settle=0", "--settle-max=0", "--max-concurrent-rollouts=0", "--halt-after-failures=0", "--observe"],
      part: {
        pacing: {
          settleMs: 0,
          settleMaxMs: 0,
          maxConcurrent: 0,
          canarySize: 1,
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
      args: ["--leader-election=T", "--leader-election-namespace=ops", "--leader-election-retry-period=500ms"],
      part: {
        leaderElection: {
          id: "wave",
          namespace: "ops",
          leaseDurationMs: 15_000,
          renewDeadlineMs: 10_000,
          retryPeriodMs: 500,
        },
      },
    },
  ])("read $args", ({ args, part }) => {
    expect(settings(args)).toMatchObject(part);
  });

  it("come from the environment where no flag says otherwise, and an empty variable says nothing", () => {
    const env = {
      WAVE_UPDATE_RATE: "3",
      WAVE_SYNC_PERIOD: "",
      WAVE_LEADER_ELECTION: "1",
      POD_NAMESPACE: "wave-system",
    };
    expect(settings([], env)).toMatchObject({ updateRate: 3, syncPeriodMs: 300_000, podNamespace: "wave-system" });
    expect(settings([], env).leaderElection?.namespace).toBe("wave-system");
    expect(settings(["--update-rate=4", "--leader-election=false"], env)).toMatchObject({
      updateRate: 4,
      leaderElection: undefined,
    });
  });

  it("ignore the variables that Kubernetes sets for a Service named wave", () => {
    const env = { WAVE_PORT: "tcp://10.0.0.1:443", WAVE_SERVICE_HOST: "10.0.0.1", WAVE_WEBHOOK_PORT_443_TCP: "tcp://" };
    expect(settings([], env)).toEqual(settings([]));
  });

  it("take the Pod's namespace from its service account where no variable tells it", () => {
    const file = join(mkdtempSync(join(tmpdir(), "wave-settings-")), "namespace");
    writeFileSync(file, "from-file\n");
    const request = readRunRequest(["--leader-election"], {}, file);
    expect(request).toMatchObject({
      settings: { podNamespace: "from-file", leaderElection: { namespace: "from-file" } },
    });
  });

  it("tell which flags were given another value than their default", () => {
    const env = { WAVE_LOG_LEVEL: "warn" };
    expect(settings(["--update-rate=10", "--update-burst=5", "--namespaces=b,a"], env).changed).toEqual([
      "update-burst=5",
      "namespaces=b,a",
      "log-level=warn",
    ]);
  });
});

describe("a mistake in the settings", () => {
  const inOneLine: { args: string[]; env?: Environment; says: string }[] = [
    { args: ["--update-rat=5"], says: 'unknown flag "--update-rat"; did you mean --update-rate?' },
    { args: ["--zzzzzzzzzzz"], says: 'unknown flag "--zzzzzzzzzzz"; --help lists those there are' },
    { args: ["--__proto__=1"], says: 'unknown flag "--__proto__"; --help lists those there are' },
    { args: ["---x"], says: 'bad flag "---x"' },
    { args: ["--kubeconfig"], says: "--kubeconfig needs a value: a text of at least one character" },
    { args: ["--kubeconfig", "--context=x"], says: "--kubeconfig needs a value: a text of at least one character" },
    { args: ["--kubeconfig="], says: '--kubeconfig: "" is not a text of at least one character' },
    {
      args: ["--sync-period=5"],
      says: '--sync-period: "5" is not a duration from 1s to 596h, such as 1500ms, 5m or 1h30m, or 0 for never',
    },
    { args: ["--sync-period=1ns"], says: '--sync-period: "1ns" is not a duration from 1s to 596h' },
    { args: ["--sync-period=9999h"], says: '--sync-period: "9999h" is not a duration from 1s to 596h' },
    {
      args: [],
      env: { WAVE_UPDATE_RATE: "fast" },
      says: 'WAVE_UPDATE_RATE: "fast" is not a number above 0, such as 10 or 0.5',
    },
    {
      args: ["--update-rate=0"],
      says: '--update-rate: "0" is not a number above 0, such as 10 or 0.5; write "unlimited" for no limit; to stop Wave, scale it to 0 replicas',
    },
    { args: ["--update-burst=0"], says: '--update-burst: "0" is not a whole number from 1 to 999999999' },
    { args: ["--canary-size=0"], says: '--canary-size: "0" is not a whole number from 1 to 999999999' },
    { args: ["--settle=-1s"], says: '--settle: "-1s" is not a duration from 1ms to 596h' },
    {
      args: ["--window=Mon-Fri 22:00-04:00 Europe/Berln"],
      says: `--window: "Mon-Fri 22:00-04:00 Europe/Berln" is not DAYS HH:MM-HH:MM and a time zone, such as "Mon-Fri 22:00-04:00 Europe/Berlin"; several by semicolons`,
    },
    { args: ["--settle=1m"], says: "--settle (1m) must not be longer than --settle-max (10s)" },
    {
      args: ["--max-concurrent-rollouts=all"],
      says: '"all" is not a whole number from 1 to 999999999, or 0 for no waves: all at once',
    },
    { args: ["--scheduling-hold=yes"], says: '--scheduling-hold: "yes" is not true or false' },
    { args: ["--log-level=trace"], says: '--log-level: "trace" is not one of debug, info, warn, error' },
    { args: ["--namespaces=Web"], says: '--namespaces: "Web" is not a comma-separated list of names of namespaces' },
    { args: ["--namespaces="], says: '--namespaces: "" is not a comma-separated list' },
    { args: ["--metrics-bind-address=8080"], says: '"8080" is not an address such as :8080, 127.0.0.1:8080' },
    { args: ["--enable-webhooks", "--webhook-bind-address=0"], says: '--webhook-bind-address: "0" is not an address' },
    { args: ["--webhook-url=https://x"], says: "--webhook-url needs --enable-webhooks" },
    { args: [], env: { WAVE_WEBHOOK_TLS_DIRECTORY: "/x" }, says: "WAVE_WEBHOOK_TLS_DIRECTORY needs --enable-webhooks" },
    { args: ["--webhook-client-ca-file=/x"], says: "--webhook-client-ca-file needs --enable-webhooks" },
    { args: ["--enable-webhooks", "--webhook-url=http://x:1"], says: '"http://x:1" is not an https URL of a host' },
    { args: ["--enable-webhooks", "--webhook-url=https://a:b@x"], says: "is not an https URL of a host and a port" },
    { args: ["--leader-election-id=x"], says: "--leader-election-id needs --leader-election" },
    { args: ["--leader-election"], says: "--leader-election needs --leader-election-namespace here" },
    {
      args: ["--leader-election", "true"],
      says: '"true" is not a flag; a flag that is on or off takes its value after',
    },
    { args: ["now"], says: '"now" is not a flag' },
    {
      args: ["--leader-election", "--leader-election-namespace=a", "--leader-election-renew-deadline=15s"],
      says: "--leader-election-lease-duration (15s) must be longer than --leader-election-renew-deadline (15s)",
    },
    {
      args: ["--leader-election", "--leader-election-namespace=a", "--leader-election-retry-period=9s"],
      says: "--leader-election-renew-deadline (10s) must be longer than 1.2 times --leader-election-retry-period (9s)",
    },
    {
      args: ["--health-probe-bind-address=:8080"],
      says: "--metrics-bind-address and --health-probe-bind-address are both :8080",
    },
  ];

  it.each(inOneLine)("says $says", ({ args, env, says }) => {
    expect(() => settings(args, env)).toThrow(UsageError);
    expect(() => settings(args, env)).toThrow(says);
  });

  it("is a UsageError of one line, whatever the arguments and variables are", () => {
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
          expect(["run", "help", "version"]).toContain(readRunRequest(args, variables, noFile).asks);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          expect(error instanceof Error && error.message).toMatch(/^[^\p{Cc}\u2028\u2029]{5,600}$/u);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("help and version", () => {
  it.each(["--help", "-h", "-help"])("%s is asked for before anything is checked", (flag) => {
    expect(readRunRequest(["--enable-webhooks=false", flag, "--sync-period=x"], {}, noFile)).toEqual({ asks: "help" });
  });

  it("--version asks for the version", () => {
    expect(readRunRequest(["--version"], {}, noFile)).toEqual({ asks: "version" });
  });
});
