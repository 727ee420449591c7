import { describe, expect, it } from "vitest";
import { flagValues, noValues } from "../../deploy/values/flag-values.ts";
import type { JsonSchema } from "../../deploy/values/value.ts";
import type { Flag } from "../../src/cli/flags/flag-types.ts";
import { runFlags } from "../../src/cli/flags/run-flags.ts";
import { parseRunArguments } from "../../src/cli/run/run-arguments.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { deploymentIn, rendered, type Values } from "./rendered.ts";

describe("the chart's values", () => {
  it("include each flag of `wave run`, except those without use in a Pod", () => {
    const named = [...flagValues.map(({ flag }) => flag), ...Object.keys(noValues)];
    expect(named.toSorted()).toEqual(Object.keys(runFlags).toSorted());
  });

  // Otherwise Helm installs replicas that do not start.
  const texts: Readonly<Record<string, readonly string[]>> = {
    window: [
      "Mon-Fr 22-4",
      "Mo-Fr 22:00-04:00",
      "Mon-Fri 22:00-4:00",
      "Mon 24:00-03:00",
      "Mon 10:00-25:00",
      "Mon 01:00",
    ],
    resourceLabelSelector: ["a b", "a=b=c", "a in b", "a in (b", "!", "-a", "a=-b"],
    "webhooks.bindAddress": ["9443", ":99999", ":65536", "0", "a:b:1"],
    syncPeriod: ["5", "5 m", "m"],
    "leaderElection.leaseDuration": ["0", "2"],
  };
  const valid: Readonly<Record<string, readonly string[]>> = {
    window: [
      "Mon-Fri 22:00-04:00",
      "sat,SUN 00:00-24:00 Europe/Berlin; Mon 9:00-10:00".replace(" 9", " 09"),
      "Fri-Mon 01:00-02:00 Etc/GMT+5;",
    ],
    resourceLabelSelector: ["a", "!a", "a=b,c!=d", "a in (b, c),example.com/d notin (e)", "a:b", "a:*", "a="],
    "webhooks.bindAddress": [":9443", "127.0.0.1:1", "[::1]:65535", "localhost:8080"],
    syncPeriod: ["0", "5m", "1h30m", "1.5s"],
    "leaderElection.leaseDuration": ["20s"],
  };
  it.for(flagValues.filter(({ path }) => path in texts))("accept the same texts as the flag: $path", (value) => {
    const flag: Flag<unknown> = runFlags[value.flag as keyof typeof runFlags];
    const { anyOf = [value.schema] } = value.schema as { anyOf?: readonly JsonSchema[] };
    const isAccepted = (text: string) =>
      anyOf.some(({ pattern, const: only }) => (pattern ? new RegExp(String(pattern)).test(text) : only === text));
    for (const text of texts[value.path] ?? [])
      expect([text, isAccepted(text), flag.parse(text)]).toEqual([text, false, undefined]);
    for (const text of valid[value.path] ?? []) {
      expect([text, isAccepted(text)]).toEqual([text, true]);
      expect(flag.parse(text), text).toBeDefined();
    }
  });
});

describeOnControlPlane("the chart", (cluster) => {
  const args = async (...values: Values) =>
    deploymentIn(await rendered(cluster, ...values)).spec.template.spec.containers[0].args.slice(1);

  it("passes only flags whose value differs from the default", async () => {
    expect(await args()).toEqual(["--leader-election=true"]);
    expect(await args("leaderElection.enabled=false,replicas=1")).toEqual([]);
  });

  const set: Readonly<Record<string, [value: unknown, argument: string]>> = {
    kubeconfig: ["/k", "--kubeconfig=/k"],
    namespaces: [["shop", "payments"], "--namespaces=shop,payments"],
    updateRate: [0.5, "--update-rate=0.5"],
    updateBurst: [1_000_000, "--update-burst=1000000"],
    syncPeriod: ["1h", "--sync-period=1h"],
    hashKeySecret: ["key", "--hash-key-secret=wave-system/key"],
    schedulingHold: [false, "--scheduling-hold=false"],
    metricsBindAddress: [0, "--metrics-bind-address=0"],
    logFormat: ["text", "--log-format=text"],
    webhooks: [{ enabled: true, serviceName: "hook", clientCaFile: "/ca" }, "--webhook-service-name=hook"],
    leaderElection: [
      { id: "one", namespace: "elsewhere", leaseDuration: "20s" },
      "--leader-election-namespace=elsewhere",
    ],
  };
  it.for(Object.entries(set))("turns %s into an argument that Wave accepts", async ([path, [value, argument]]) => {
    const given = await args({ [path]: value });
    expect(given).toContain(argument);
    expect(() => parseRunArguments(given, { POD_NAMESPACE: "wave-system" })).not.toThrow();
  });

  it("accepts an update rate of 0 like the chart of Wave 0.11, although the flag rejects it", async () => {
    expect(await args("updateRate=0")).toContain("--update-rate=unlimited");
  });

  it("omits the flags of webhooks and leader election if these are off, because Wave rejects them", async () => {
    const given = await args(
      "webhooks.clientCaFile=/ca,leaderElection.leaseDuration=20s,leaderElection.enabled=false,replicas=1",
    );
    expect(given).toEqual([]);
  });
});
