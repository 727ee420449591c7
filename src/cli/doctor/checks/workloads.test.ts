import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startSandbox } from "../../../../sandbox/sandbox.ts";
import { commandScene } from "../../../../test/support/cli/commands.ts";
import { doctorScenes } from "../../../../test/support/cli/doctor.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());
afterEach(() => void vi.useRealTimers());

const scene = doctorScenes(sandbox, "doctored");

describe("wave doctor, for a workload,", () => {
  it("prints no command with an invalid name from a pod spec", async () => {
    const { createWorkload, diagnosed, namespace } = await scene();
    const container = { name: "web", image: "nginx", volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const volumes = [{ name: "v", secret: { secretName: "x; reboot" } }];
    const template = { metadata: { labels: { app: "odd" } }, spec: { containers: [container], volumes } };
    await createWorkload("deployments/odd", { spec: { template } });
    const { findings } = await diagnosed();
    expect(findings.find(({ where }) => where?.name === "odd")).toMatchObject({
      what: expect.stringMatching(/^Waiting for Secret "x; reboot"\./),
      fix: `kubectl edit -n ${namespace} deployment/odd  # no Secret can have this name`,
    });
    expect(findings.some(({ fix }) => fix?.includes("reboot"))).toBe(false);
  });

  it("prints how to share an object of another namespace, and which object lacks a key", async () => {
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

  it("reports the failed workload first, and one problem for all workloads that it halts", async () => {
    const standing = await startSandbox({ controllers: false });
    onTestFinished(() => standing.close());
    const cluster = commandScene(standing, "halted");
    await cluster.createNamespace("halted");
    await cluster.createConfigMap("page", "1");
    await cluster.createWorkload("deployments/zz", { annotations: { "wave.pusher.com/priority": "1" } });
    const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" }];
    // A workload without Pods waits for no batch.
    const pods = { observedGeneration: 1_000, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
    for (let at = 0; at < 22; at++) {
      await cluster.createWorkload(`deployments/a${at}`);
      await cluster.merge(`deployments/a${at}/status`, { status: pods });
    }
    // After the workloads, each of which edits the ConfigMap.
    await cluster.roll("deployments/zz");
    await cluster.merge("deployments/zz/status", { status: { observedGeneration: 1_000, conditions } });
    await cluster.toBe("deployments/a0", "held");
    const { out } = await cluster.run("doctor");
    expect(out).toMatch(/^3 problems\b/);
    expect(out).toMatch(/PROBLEM {2}deployment\/zz in halted\n.*\n.*\n\nPROBLEM {2}configmap\/page in halted\n/);
    expect(out).toContain("22 workloads are halted: deployment/a0, ");
  });

  it("reports a workload that is due for minutes, but not one that is due for seconds", async () => {
    const { createWorkload, found } = await scene();
    await createWorkload("deployments/due");
    expect(await found("workloads")).toEqual([]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 600_000 });
    expect(await found("workloads")).toEqual(["problem: Due for 10m, but Wave does not roll the workload."]);
  });
});
