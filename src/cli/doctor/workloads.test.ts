import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { doctorScenes } from "../../../test/support/cli/doctor.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());
afterEach(() => void vi.useRealTimers());

const scene = doctorScenes(sandbox, "doctored");

describe("wave doctor, of a workload,", () => {
  it("makes no command out of what a pod spec may name as it likes", async () => {
    const { createWorkload, diagnosed, namespace } = await scene();
    const container = { name: "web", image: "nginx", volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const volumes = [{ name: "v", secret: { secretName: "x; reboot" } }];
    const template = { metadata: { labels: { app: "odd" } }, spec: { containers: [container], volumes } };
    await createWorkload("deployments/odd", { spec: { template } });
    const { findings } = await diagnosed();
    expect(findings.find(({ where }) => where?.name === "odd")).toMatchObject({
      what: 'waiting for Secret "x; reboot"',
      fix: `kubectl edit -n ${namespace} deployment/odd  # no Secret is called so`,
    });
    expect(findings.some(({ fix }) => fix?.includes("reboot"))).toBe(false);
  });

  it("says how to share what another namespace does not share, and which object lacks a key", async () => {
    const { createNamespace, createWorkload, diagnosed, namespace } = await scene();
    await createNamespace("elsewhere");
    await createWorkload("deployments/foot", {
      annotations: { "wave.pusher.com/extra-configmaps": "elsewhere/footer" },
    });
    const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "none" } } }];
    const template = {
      metadata: { labels: { app: "key" } },
      spec: { containers: [{ name: "web", image: "nginx", env }] },
    };
    await createWorkload("deployments/key", { spec: { template } });
    const { findings } = await diagnosed();
    const fixOf = (name: string) => findings.find(({ where }) => where?.name === name)?.fix;
    expect(fixOf("foot")).toBe(
      `kubectl annotate -n elsewhere configmap/footer wave.pusher.com/shared-with=${namespace}  # once it exists`,
    );
    expect(fixOf("key")).toBe(`kubectl edit -n ${namespace} configmap/page  # add the key`);
  });

  it("shows what failed before the many that it halted", async () => {
    const standing = await startSandbox({ controllers: false });
    onTestFinished(() => standing.close());
    const cluster = commandScene(standing, "halted");
    await cluster.createNamespace("halted");
    await cluster.createConfigMap("page", "1");
    await cluster.createWorkload("deployments/zz", { annotations: { "wave.pusher.com/priority": "1" } });
    await cluster.roll("deployments/zz");
    const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" }];
    await cluster.merge("deployments/zz/status", { status: { observedGeneration: 1_000, conditions } });
    // Who has no Pods waits for nobody.
    const pods = { observedGeneration: 1_000, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
    for (let at = 0; at < 22; at++) {
      await cluster.createWorkload(`deployments/a${at}`);
      await cluster.merge(`deployments/a${at}/status`, { status: pods });
    }
    await cluster.toBe("deployments/a0", "held");
    const { out } = await cluster.run("doctor");
    expect(out).toMatch(/PROBLEM {2}deployment\/zz in halted\n.*\n.*\n\nPROBLEM {2}deployment\/a0 /);
    expect(out).toContain("\n3 more of workloads: -o json has all.\n");
  });

  it("says that Wave does not write what is due for long, not what is due since just now", async () => {
    const { createWorkload, found } = await scene();
    await createWorkload("deployments/due");
    expect(await found("workloads")).toEqual([]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 600_000 });
    expect(await found("workloads")).toEqual(["problem: it is due for 10m, and Wave does not write it"]);
  });
});
