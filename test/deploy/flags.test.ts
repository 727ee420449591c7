import { describe, expect, it } from "vitest";
import { flagValues, noValues } from "../../deploy/values/flag-values.ts";
import { runFlags } from "../../src/cli/flags/run-flags.ts";
import { parseRunArguments } from "../../src/cli/run/run-arguments.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { deploymentIn, rendered, type Values } from "./rendered.ts";

describe("the chart's values", () => {
  it("include each flag of `wave run`, except those without use in a Pod", () => {
    const named = [...flagValues.map(({ flag }) => flag), ...Object.keys(noValues)];
    expect(named.toSorted()).toEqual(Object.keys(runFlags).toSorted());
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
    leaderElection: [{ id: "one", namespace: "elsewhere", retryPeriod: "1s" }, "--leader-election-namespace=elsewhere"],
  };
  it.for(Object.entries(set))("turns %s into an argument that Wave accepts", async ([path, [value, argument]]) => {
    const given = await args({ [path]: value });
    expect(given).toContain(argument);
    expect(parseRunArguments(given, { POD_NAMESPACE: "wave-system" })).toMatchObject({ action: "run" });
  });

  it("accepts an update rate of 0 like the chart of Wave 0.11, although the flag rejects it", async () => {
    expect(await args("updateRate=0")).toContain("--update-rate=unlimited");
  });

  it("omits the flags of webhooks and leader election if these are off, because Wave rejects them", async () => {
    const given = await args(
      "webhooks.clientCaFile=/ca,leaderElection.retryPeriod=1s,leaderElection.enabled=false,replicas=1",
    );
    expect(given).toEqual([]);
  });
});
