import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { helm } from "../admission/admitted.ts";
import { until } from "../control-plane/wave-process.ts";
import { deploy } from "../deploy/rendered.ts";
import { makeNamespace, type Namespace, type WorkloadKind, workload } from "../end-to-end/objects.ts";
import { getWorkload, recordedHash, settledRevisions, waveEvents } from "../end-to-end/state.ts";
import { admits, hashAtCreation, helmWave, leader, makeSystem, nginx, podsOf, rolledOut, system } from "./installed.ts";
import { describeOnNode } from "./suite.ts";

const example = readFileSync(join(deploy, "../examples/nginx.yaml"), "utf8");
const ns = "shop";

/** Prints the Secret that it reads at its start, and keeps running. */
const sayingToken = (secretName?: string) => ({
  containers: [
    {
      name: "app",
      image: nginx,
      command: ["sh", "-c", 'echo "the token is $TOKEN"; exec sleep infinity'],
      env: [
        {
          name: "TOKEN",
          valueFrom: { secretKeyRef: { name: secretName ?? "none", key: "token", optional: secretName === undefined } },
        },
      ],
    },
  ],
});

describeOnNode("Wave installed by its chart", (node) => {
  let namespace: Namespace;
  const kubectl = (...args: string[]) => node().cluster.kubectl(["-n", ns, ...args]);
  const logs = (name: string) => kubectl("logs", "-l", `app=${name}`, "--tail=-1");

  beforeAll(async () => {
    const { cluster } = node();
    namespace = await makeNamespace(cluster, ns);
    await makeSystem(cluster);
    await helmWave(cluster, "install");
    await admits(cluster, ns, workload("probe", sayingToken()));
    await leader(cluster);
  });

  it("is Ready within moments after it could serve", async () => {
    const { cluster } = node();
    for (const { metadata, status } of await podsOf(cluster, system, "app.kubernetes.io/name=wave")) {
      const log = (await cluster.kubectl(["-n", system, "logs", metadata.name])).split("\n").filter(Boolean);
      const serving = log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "serving the webhook");
      const ready = status.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime ?? "";
      // The kubelet probes each second and reports whole seconds. By default it would probe every ten seconds, after ten seconds.
      expect(Date.parse(ready) - Date.parse(serving.time)).toBeLessThan(9_000);
    }
  });

  it("is found to work by `helm test`, in a restricted Pod of the same image", async () => {
    const said = await helm(node().cluster, ["test", "wave", "-n", system, "--timeout", "240s"]);
    expect(said).toMatch(/Phase: +Succeeded/);
  });

  it("shows the new page of the README's example after the edit of its ConfigMap", async () => {
    const { cluster } = node();
    await cluster.kubectl(["-n", ns, "apply", "-f", "-"], example);
    await kubectl("expose", "deployment", "web", "--port=80");
    const address = await kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}");
    // kube-proxy configures the Service a moment later; until then no endpoint answers.
    const page = async () => (await fetch(`http://${address}/`, { signal: AbortSignal.timeout(1000) })).text();
    await until("the first page", async () => ((await page()) === "<h1>Hello</h1>\n" ? true : undefined));
    // The API server called the webhook through its Service: Pods started once, and the controller wrote nothing.
    const { metadata } = await getWorkload(cluster, ns, "Deployment", "web");
    expect(metadata.generation).toBe(1);

    await namespace.edit("ConfigMap", "web-page", { "notes.txt": "read by nobody" });
    await namespace.edit("ConfigMap", "web-page", { "index.html": "<h1>Hello again</h1>" });
    await until("the new page", async () => ((await page()) === "<h1>Hello again</h1>" ? true : undefined));
    expect(await settledRevisions(cluster, ns, "Deployment", "web")).toBe(2);
    expect((await waveEvents(cluster, ns, "web")).map(({ message }) => message).join()).toContain('key "index.html"');
  });

  it.for<WorkloadKind>(["StatefulSet", "DaemonSet"])("gives the Pods of a %s the new Secret", async (kind) => {
    const { cluster } = node();
    const name = kind.toLowerCase();
    const edit = async (token: string) =>
      cluster.kubectl(["-n", ns, "apply", "-f", "-"], JSON.stringify(secret(name, token)));
    await edit("first");
    await namespace.create(workload(name, sayingToken(name), { kind }));
    await until("the first Secret", async () => ((await logs(name)).includes("is first") ? true : undefined));
    await edit("second");
    await until("the new Secret", async () => ((await logs(name)) === "the token is second\n" ? true : undefined));
    await rolledOut(cluster, ns, `${name}/${name}`);
  });

  it("holds Pods until their configuration exists, and then starts each once", async () => {
    const { cluster } = node();
    const reads = { ...sayingToken().containers[0], envFrom: [{ configMapRef: { name: "late" } }] };
    await namespace.create(workload("held", { containers: [reads] }));
    const held = await until("the Pod", async () => (await podsOf(cluster, ns, "app=held"))[0]);
    expect(held).toMatchObject({ spec: { schedulerName: "wave.pusher.com/invalid" }, status: { phase: "Pending" } });
    await namespace.configMap("late", { a: "1" });
    await rolledOut(cluster, ns, "deployment/held");
    const [pod] = await podsOf(cluster, ns, "app=held");
    expect(pod?.status.containerStatuses).toMatchObject([{ restartCount: 0 }]);
    const started = (
      await kubectl("get", "events", "-o", "jsonpath={.items[?(@.reason=='Started')].involvedObject.name}")
    )
      .split(" ")
      .filter((name) => name.startsWith("held-"));
    expect(started).toEqual([pod?.metadata.name]);
  });

  describe("through its upgrade, rollback and end", () => {
    const uids = async () => (await podsOf(node().cluster, ns)).map(({ metadata }) => metadata.uid).toSorted();
    const registration = async () => {
      const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/wave-webhook";
      return (await node().cluster.api<{ webhooks: unknown }>("GET", path)).webhooks;
    };

    it.for([
      ["upgraded", () => helmWave(node().cluster, "upgrade", "extraArgs={--log-level=debug}")],
      ["rolled back", () => helm(node().cluster, ["rollback", "wave", "1", "-n", system, "--wait"])],
    ] as const)(
      "replaces none but its own Pods when it is %s, and stays what the API server trusts",
      async ([, act]) => {
        const { cluster } = node();
        const before = { pods: await uids(), registration: await registration() };
        const own = (await podsOf(cluster, system, "app.kubernetes.io/name=wave")).map(({ metadata }) => metadata.uid);
        await act();
        expect({ pods: await uids(), registration: await registration() }).toEqual(before);
        expect(
          (await podsOf(cluster, system, "app.kubernetes.io/name=wave")).filter(({ metadata }) =>
            own.includes(metadata.uid),
          ),
        ).toEqual([]);
        expect(await hashAtCreation(cluster, ns, workload("probe", sayingToken()))).toMatch(/^v2:/);
      },
    );

    it("keeps Pods and hashes when it is uninstalled, and blocks no request", async () => {
      const { cluster } = node();
      const before = { pods: await uids(), hash: await recordedHash(cluster, ns, "Deployment", "web") };
      await helm(cluster, ["uninstall", "wave", "-n", system, "--wait"]);
      expect(await hashAtCreation(cluster, ns, workload("probe", sayingToken()))).toBeUndefined();
      expect({ pods: await uids(), hash: await recordedHash(cluster, ns, "Deployment", "web") }).toEqual(before);
    });
  });
});

const secret = (name: string, token: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { token },
});
