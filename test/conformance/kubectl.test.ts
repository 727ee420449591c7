import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeApiServers } from "./targets.ts";

const run = promisify(execFile);

const manifest = (image: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {index.html: hello, unread: x}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {note: "kept"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: ${image}
          volumeMounts: [{name: html, mountPath: /index.html, subPath: index.html}]
      volumes: [{name: html, configMap: {name: web}}]
`;

// kubectl is not part of the control plane, so a machine may have only one of the two.
if (spawnSync("kubectl", ["version", "--client"]).status === 0) {
  describeApiServers("kubectl", (target) => {
    const folder = mkdtempSync(join(tmpdir(), "wave-kubectl-"));
    const kubeconfig = join(folder, "kubeconfig");
    const file = join(folder, "web.yaml");
    const kubectl = async (...words: string[]): Promise<string> => {
      const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: folder, KUBE_EDITOR: "sed -i s/hello/goodbye/" };
      const { stdout } = await run("kubectl", ["-n", target().namespaceName, ...words], { env });
      return stdout;
    };
    beforeAll(() => {
      const { server, ca, token } = target().access;
      const authority = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
      const config = {
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "c", cluster: { server: server.origin, ...authority } }],
        users: [{ name: "u", user: token === undefined ? {} : { token } }],
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        "current-context": "c",
      };
      writeFileSync(kubeconfig, JSON.stringify(config));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it("applies a manifest, and again with no change", async () => {
      writeFileSync(file, manifest("nginx:1"));
      expect(await kubectl("apply", "-f", file)).toBe("configmap/web created\ndeployment.apps/web created\n");
      expect(await kubectl("apply", "-f", file)).toBe("configmap/web unchanged\ndeployment.apps/web unchanged\n");
    });

    it("waits for a rollout and shows its ReplicaSets and Pods", async () => {
      expect(await kubectl("rollout", "status", "deployment/web", "--timeout=180s")).toContain(
        "successfully rolled out",
      );
      expect(await kubectl("get", "deployment", "web")).toMatch(
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +2\/2 +2 +2 +\d+s\n$/,
      );
      expect(await kubectl("get", "pods", "--no-headers")).toMatch(/^(web-\w+-\w+ +1\/1 +Running +0 +\d+s\n){2}$/);
      expect(await kubectl("describe", "deployment", "web")).toContain("ScalingReplicaSet");
    });

    it("applies a change and keeps all fields that other clients set", async () => {
      await kubectl("annotate", "deployment", "web", "other=set");
      writeFileSync(file, manifest("nginx:2"));
      expect(await kubectl("apply", "-f", file)).toBe("configmap/web unchanged\ndeployment.apps/web configured\n");
      await kubectl("rollout", "status", "deployment/web", "--timeout=180s");
      const jsonpath =
        "-o=jsonpath={.spec.template.spec.containers[*].image} {.metadata.annotations.other} {.metadata.annotations.note}";
      expect(await kubectl("get", "deployment", "web", jsonpath)).toBe("nginx:2 set kept");
      expect((await kubectl("get", "replicasets", "--no-headers")).trim().split("\n")).toHaveLength(2);
    });

    it("edits a ConfigMap", async () => {
      expect(await kubectl("edit", "configmap", "web")).toBe("configmap/web edited\n");
      expect(await kubectl("get", "configmap", "web", "-o=jsonpath={.data}")).toBe(
        '{"index.html":"goodbye","unread":"x"}',
      );
    });

    it("shows the changes of a server-side dry run", async () => {
      expect(await kubectl("apply", "--dry-run=server", "-f", file)).toContain(
        "configmap/web configured (server dry run)",
      );
      expect(await kubectl("get", "configmap", "web", "-o=jsonpath={.data.index\\.html}")).toBe("goodbye");
    });

    it("applies on the server and reports a conflict with an edit", async () => {
      const apply = kubectl("apply", "--server-side", "--field-manager=me", "-f", file);
      await expect(apply).rejects.toThrow('conflict with "kubectl-edit" using v1: .data.index.html');
      const forced = await kubectl("apply", "--server-side", "--field-manager=me", "--force-conflicts", "-f", file);
      expect(forced).toBe("configmap/web serverside-applied\ndeployment.apps/web serverside-applied\n");
      expect(await kubectl("get", "configmap", "web", "-o=jsonpath={.data.index\\.html}")).toBe("hello");
    });

    it("creates, scales, restarts and deletes", async () => {
      await kubectl("create", "configmap", "made", "--from-literal=a=b");
      expect(await kubectl("get", "configmap", "made", "-o=jsonpath={.data}")).toBe('{"a":"b"}');
      await kubectl("create", "secret", "generic", "made", "--from-literal=a=b");
      expect(await kubectl("get", "secret", "made", "-o=jsonpath={.data} {.type}")).toBe('{"a":"Yg=="} Opaque');
      await kubectl("create", "deployment", "made", "--image=nginx", "--replicas=0");
      expect(await kubectl("get", "deployment", "made", "-o=jsonpath={.spec.replicas}")).toBe("0");
      await kubectl("scale", "deployment", "web", "--replicas=1");
      await kubectl("rollout", "restart", "deployment", "web");
      expect(await kubectl("rollout", "status", "deployment/web", "--timeout=180s")).toContain(
        "successfully rolled out",
      );
      expect(await kubectl("delete", "deployment", "web", "--timeout=180s")).toBe('deployment.apps "web" deleted\n');
      await kubectl("wait", "--for=delete", "pod", "-l", "app=web", "--timeout=180s");
      expect(await kubectl("get", "pods", "-l", "app=web", "-o=name")).toBe("");
    });

    it("explains why it refuses a misspelt field and a label without quotes", async () => {
      writeFileSync(file, manifest("nginx:1").replace("replicas:", "replica:"));
      await expect(kubectl("apply", "-f", file)).rejects.toThrow('strict decoding error: unknown field "spec.replica"');
      writeFileSync(file, manifest("nginx:1").replace('"kept"', "true"));
      await expect(kubectl("apply", "-f", file)).rejects.toThrow("cannot unmarshal bool");
    });
  });
} else {
  describe("kubectl", () => {
    it("is not on the PATH of this machine, so its behaviour is not compared", () => {
      expect(spawnSync("kubectl", ["version", "--client"]).error).toMatchObject({ code: "ENOENT" });
    });
  });
}
