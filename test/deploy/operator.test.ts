import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { policyRows } from "../../src/domain/policy/policy-rows.ts";
import { helm, reads } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until, wave } from "../control-plane/wave-process.ts";
import { makeNamespace, namespaceAs, workload, workloadKinds } from "../end-to-end/objects.ts";
import { chart } from "./rendered.ts";

const [release, ns] = ["operated", "operated-shop"];
const annotation = (name: string) => `/metadata/annotations/wave.pusher.com~1${name}`;
const resources = ["deployment/app", "statefulset/app", "daemonset/app", "configmap/page", `namespace/${ns}`];
const set = (name: string, value = "true") => [{ op: "add", path: annotation(name), value }];

interface ReadMetadata {
  readonly resourceVersion: string;
  readonly managedFields: readonly { readonly manager: string; readonly time: string; readonly fieldsV1: object }[];
}

describeOnControlPlane("a person with the role of operators, and no other permission to write,", (cluster) => {
  let token: string;
  let folder: string;
  const as = (user: string, args: readonly string[], stdin?: string) =>
    cluster.kubectl([`--token=${user}`, ...args], stdin);
  const patchArgs = (resource: string, operations: readonly object[], ...more: readonly string[]) => [
    ...["-n", ns, "patch", resource, "--type=json", "-p", JSON.stringify(operations), ...more],
  ];
  const patch = (resource: string, operations: readonly object[], ...more: readonly string[]) =>
    as(token, patchArgs(resource, operations, ...more));
  const account = async (name: string, ...roles: readonly string[]) => {
    await cluster.kubectl(["-n", ns, "create", "serviceaccount", name]);
    for (const role of roles)
      await cluster.kubectl([
        "-n",
        ns,
        "create",
        "rolebinding",
        `${name}-${role}`,
        `--clusterrole=${role}`,
        `--serviceaccount=${ns}:${name}`,
      ]);
    return (await cluster.kubectl(["-n", ns, "create", "token", name])).trim();
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wave-operator-"));
    const namespace = await makeNamespace(cluster, ns);
    const system = `${release}-system`;
    await helm(cluster, [
      "install",
      release,
      chart,
      "-n",
      system,
      "--create-namespace",
      "--set",
      "operatorRole.enabled=true",
    ]);
    token = await account("on-call", `${release}-operator`, "view");
    for (const { kind } of workloadKinds) await namespace.create(workload("app", reads("page"), { kind }));
    await namespace.configMap("page", { a: "1" });
    await namespace.secret("db", { a: "1" });
    for (const each of resources) await cluster.kubectl(["-n", ns, "annotate", "--overwrite", each, "note=a"]);
    // A policy takes effect a moment after its creation.
    const label = patchArgs(
      "deployment/app",
      [{ op: "add", path: "/metadata/labels", value: { a: "b" } }],
      "--dry-run=server",
    );
    await until("the policy to be in force", () =>
      as(token, label).then(
        () => undefined,
        () => true,
      ),
    );
  });
  afterAll(() => rm(folder, { recursive: true }));

  describe.for(resources)("on %s", (resource) => {
    const names = Object.entries(policyRows).flatMap(([name, row]) => ("isByOperator" in row ? [name] : []));
    it.for([...names, "hold-cluster"])("writes and removes %s", async (name) => {
      await expect(patch(resource, set(name))).resolves.toContain("patched");
      await expect(patch(resource, [{ op: "remove", path: annotation(name) }])).resolves.toContain("patched");
    });

    it.for(["window", "mode", "update-on-config-change", "config-hash", "cause", "rejected-configmaps", "state"])(
      "cannot write %s",
      async (name) => {
        await expect(patch(resource, set(name, "x"))).rejects.toThrow("An operator of Wave may");
      },
    );

    it.for([
      ["another annotation", [{ op: "add", path: "/metadata/annotations/x", value: "y" }], "annotations"],
      ["a label", [{ op: "add", path: "/metadata/labels/x", value: "y" }], "metadata"],
      ["a finalizer", [{ op: "add", path: "/metadata/finalizers", value: ["a.example/b"] }], "metadata"],
      [
        "an owner",
        [
          {
            op: "add",
            path: "/metadata/ownerReferences",
            value: [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "b" }],
          },
        ],
        "metadata",
      ],
      ["all managed fields", [{ op: "replace", path: "/metadata/managedFields", value: [{}] }], "managedFields"],
    ] as const)("cannot write %s", async ([, operations, why]) => {
      await cluster.kubectl(["-n", ns, "label", "--overwrite", resource, "team=a"]);
      await expect(patch(resource, operations)).rejects.toThrow(
        new RegExp(`An operator of Wave may not change .*${why}`),
      );
    });

    it("is not deleted", async () => {
      await expect(as(token, ["-n", ns, "delete", resource, "--dry-run=server"])).rejects.toThrow(
        "cannot delete resource",
      );
    });
  });

  const template = "/spec/template";
  it.for([
    ["an image", [{ op: "replace", path: `${template}/spec/containers/0/image`, value: "evil" }]],
    ["an environment variable", [{ op: "remove", path: `${template}/spec/containers/0/envFrom` }]],
    ["replicas", [{ op: "replace", path: "/spec/replicas", value: 50 }]],
    ["a pause", [{ op: "add", path: "/spec/paused", value: true }]],
    [
      "an annotation of the pod template",
      [{ op: "add", path: `${template}/metadata/annotations`, value: { "wave.pusher.com/hold": "true" } }],
    ],
    [
      "an image beside a hold",
      [...set("hold"), { op: "replace", path: `${template}/spec/containers/0/image`, value: "evil" }],
    ],
  ] as const)("cannot write %s of a Deployment", async ([, operations]) => {
    await expect(patch("deployment/app", operations)).rejects.toThrow("An operator of Wave may not change the spec");
  });

  it("cannot change the content of a ConfigMap, and neither read nor write a Secret", async () => {
    const data = [{ op: "replace", path: "/data/a", value: "2" }];
    await expect(patch("configmap/page", data)).rejects.toThrow(
      "An operator of Wave may not change the spec, the data",
    );
    await expect(patch("configmap/page", [{ op: "add", path: "/immutable", value: true }])).rejects.toThrow(
      "An operator of Wave",
    );
    // The response of a patch has the values.
    await expect(as(token, ["-n", ns, "annotate", "secret/db", "wave.pusher.com/hold=true"])).rejects.toThrow(
      "forbidden",
    );
    await expect(patch("secret/db", set("hold"))).rejects.toThrow("forbidden");
  });

  it.for(["status", "scale"])("cannot write the subresource %s", async (subresource) => {
    const value = subresource === "scale" ? [{ op: "replace", path: "/spec/replicas", value: 9 }] : set("hold");
    await expect(patch("deployment/app", value, `--subresource=${subresource}`)).rejects.toThrow(
      `deployments/${subresource}`,
    );
  });

  it("cannot create a workload, also not by server-side apply, nor replace one", async () => {
    const { metadata, ...rest } = workload("evil", reads("page"));
    const manifest = (name: string) => JSON.stringify({ ...rest, metadata: { ...metadata, name } });
    await expect(as(token, ["-n", ns, "create", "-f", "-"], manifest("evil"))).rejects.toThrow("cannot create");
    await expect(as(token, ["-n", ns, "apply", "--server-side", "-f", "-"], manifest("evil"))).rejects.toThrow(
      "cannot create",
    );
    await expect(as(token, ["-n", ns, "replace", "-f", "-"], manifest("app"))).rejects.toThrow("cannot update");
  });

  it("has no permission in other namespaces", async () => {
    await expect(
      as(token, ["-n", "default", "annotate", "configmap/kube-root-ca.crt", "wave.pusher.com/hold=true"]),
    ).rejects.toThrow("forbidden");
  });

  it("holds, releases and approves with the commands of Wave", async () => {
    const kubeconfig = join(folder, "kubeconfig");
    const config = JSON.parse(await cluster.kubectl(["config", "view", "--raw", "-o", "json"]));
    await writeFile(
      kubeconfig,
      JSON.stringify({ ...config, users: [{ name: config.users[0].name, user: { token } }] }),
    );
    const run = (...args: readonly string[]) =>
      new Promise<string>((resolve) => {
        execFile(wave, [...args, "-n", ns, "--kubeconfig", kubeconfig], (_error, out, err) => resolve(out + err));
      });
    const held = () =>
      cluster
        .api("GET", `/apis/apps/v1/namespaces/${ns}/deployments/app`)
        .then(({ metadata }) => metadata.annotations?.["wave.pusher.com/hold"]);
    await run("hold", "deployment/app", "--reason=incident");
    expect(await held()).toBe("true");
    await run("release", "deployment/app");
    expect(await held()).toBeUndefined();
    await cluster.kubectl(["-n", ns, "annotate", "deployment/app", "wave.pusher.com/mode=approve"]);
    await run("approve", "deployment/app");
    const { metadata } = await cluster.api("GET", `/apis/apps/v1/namespaces/${ns}/deployments/app`);
    expect(metadata.annotations).toHaveProperty(["wave.pusher.com/approved"]);
  });

  it("removes what was rolled back, as wave resume does", async () => {
    await cluster.kubectl(["-n", ns, "annotate", "deployment/app", "wave.pusher.com/rejected-configmaps=a=0123456789"]);
    await expect(patch("deployment/app", set("hold"))).resolves.toContain("patched");
    await expect(patch("deployment/app", set("rejected-configmaps", "b"))).rejects.toThrow("may only remove");
    await expect(
      patch("deployment/app", [{ op: "remove", path: annotation("rejected-configmaps") }]),
    ).resolves.toContain("patched");
  });

  it("removes a hold of another person, also from an object with more than ten field managers", async () => {
    await cluster.kubectl(["-n", ns, "annotate", "--overwrite", "deployment/app", "wave.pusher.com/hold=true"]);
    await expect(patch("deployment/app", [{ op: "remove", path: annotation("hold") }])).resolves.toContain("patched");
    for (let each = 0; each < 12; each++)
      await cluster.kubectl([
        "-n",
        ns,
        "annotate",
        "deployment/app",
        `manager-${each}=x`,
        `--field-manager=manager-${each}`,
      ]);
    await expect(patch("deployment/app", set("hold"), "--field-manager=late")).resolves.toContain("patched");
    await expect(patch("deployment/app", [{ op: "remove", path: annotation("hold") }])).resolves.toContain("patched");
  });

  const readMetadata = async (resource: string): Promise<ReadMetadata> =>
    JSON.parse(await cluster.kubectl(["-n", ns, "get", resource, "-o", "json", "--show-managed-fields"])).metadata;
  /** Tries to change the time of the last field manager that wrote the spec or the data, and returns the answer. */
  const changeTime = (resource: string) =>
    until(`an answer about the state of ${resource} that was read`, async () => {
      const { managedFields, resourceVersion } = await readMetadata(resource);
      // Another manager may be the last, for example the one of the status, and its next write changes the order.
      const index = managedFields.findLastIndex(({ fieldsV1 }) => "f:spec" in fieldsV1 || "f:data" in fieldsV1);
      const isAsRead = { op: "test", path: "/metadata/resourceVersion", value: resourceVersion };
      // Not earlier than the joined managers: the API server would join this one, too, and lose the entry of both.
      const joined = managedFields.find(({ manager }) => manager === "ancient-changes");
      const value = joined?.time ?? "2020-01-01T00:00:00Z";
      const time = { op: "replace", path: `/metadata/managedFields/${index}/time`, value };
      const answer = await patch(resource, [isAsRead, time, ...set("hold")]).catch(String);
      return /managedFields|patched/.exec(answer)?.[0];
    });

  it.each(resources.slice(1, 4))(
    "changes no time of the field manager that wrote the spec or the data of %s",
    async (resource) => {
      expect(await changeTime(resource)).toBe("managedFields");
    },
  );

  /** Patches an object as a field manager, in a later second than all writes before: the joined managers have the time of the newest of them. */
  const patchLater = async (resource: string, manager: string, change: object, ...more: readonly string[]) => {
    const newest = Math.max(...(await readMetadata(resource)).managedFields.map(({ time }) => Date.parse(time)));
    await until("a later second", async () => Date.now() > newest + 1_000 || undefined);
    const args = ["patch", resource, "-p", JSON.stringify(change), `--field-manager=${manager}`, ...more];
    await cluster.kubectl(["-n", ns, ...args]);
  };
  /** Writes annotations as other field managers until the API server joins managers at the next one. */
  const addManagers = (resource: string) =>
    until("ten field managers", async () => {
      const { length } = (await readMetadata(resource)).managedFields;
      if (length >= 10) return true;
      await cluster.kubectl(["-n", ns, "annotate", resource, `more-${length}=x`, `--field-manager=more-${length}`]);
      return undefined;
    });

  it("changes no time of one of more than ten field managers, which the API server joins with older ones", async () => {
    await patchLater("deployment/app", "editor", { spec: { minReadySeconds: 1 } });
    await addManagers("deployment/app");
    expect(await changeTime("deployment/app")).toBe("managedFields");
  });

  it("holds a workload also if the API server then joins one of two entries of a field manager", async () => {
    const app = "deployment/scaled";
    await namespaceAs(cluster, ns).create(workload("scaled", reads("page")));
    await patchLater(app, "autoscaler", { spec: { minReadySeconds: 1 } });
    await patchLater(app, "autoscaler", { spec: { replicas: 2 } }, "--subresource=scale", "--type=merge");
    await addManagers(app);
    await expect(patch(app, set("hold"))).resolves.toContain("patched");
    const managers = (await readMetadata(app)).managedFields.map(({ manager }) => manager);
    expect(managers.filter((each) => ["ancient-changes", "autoscaler"].includes(each))).toEqual([
      "ancient-changes",
      "autoscaler",
    ]);
  });

  it("does not write as Wave, whose time of the last rollout would change", async () => {
    const hash = [
      { op: "add", path: "/spec/template/metadata/annotations", value: { "wave.pusher.com/config-hash": "v2:1" } },
    ];
    await cluster.kubectl(patchArgs("statefulset/app", hash, "--field-manager=wave"));
    const later = patch("statefulset/app", set("hold"), "--field-manager=wave");
    // The API has whole seconds: a write in the same second changes no time.
    await later.catch((error: unknown) => expect(String(error)).toContain("managedFields"));
    await until("another second", async () => {
      const again = patch("statefulset/app", set("hold", `${Math.random()}`), "--field-manager=wave");
      return again.then(
        () => undefined,
        (error: unknown) => (String(error).includes("managedFields") ? true : undefined),
      );
    });
    await expect(patch("statefulset/app", set("hold", "false"))).resolves.toContain("patched");
  });

  it("does everything that another role with update allows, and administrators are not limited", async () => {
    const editor = await account("editor", `${release}-operator`, "edit");
    const image = [{ op: "replace", path: `${template}/spec/containers/0/image`, value: "nginx:2" }];
    await expect(as(editor, patchArgs("deployment/app", image))).resolves.toContain("patched");
    await expect(cluster.kubectl(["-n", ns, "label", "deployment/app", "a=b"])).resolves.toContain("labeled");
  });
});
