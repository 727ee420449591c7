import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyOf, pinnedCopyLabel } from "../../src/domain/references/annotations.ts";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { policies } from "./pointed.ts";

const [release, ns, deletedNamespace] = ["protection", "protected-copies", "protected-copies-deleted"];
/** The namespaces of the policy: other suites have their own. */
const namespaces = `namespaces={${ns},${deletedNamespace}}`;
const path = (name = "", namespace = ns) => `/api/v1/namespaces/${namespace}/configmaps${name && `/${name}`}`;
const mergePatch = "application/merge-patch+json";

/** The message for a client that changes or deletes a copy. */
const message = (name: string) =>
  `ConfigMap "${name}" is a pinned copy of Wave. Pods that run now, or after a rollback, read it. ` +
  `To change or delete it anyway, set annotation wave.pusher.com/allow-copy-changes to "true" on Namespace "${ns}".`;

describeOnControlPlane("a pinned copy", (cluster) => {
  const create = (name: string, more: object = {}, namespace = ns) =>
    cluster.api("POST", path("", namespace), {
      metadata: { name, labels: { [pinnedCopyLabel]: "true" }, annotations: { [copyOf]: "web" }, ...more },
      immutable: true,
      data: { a: "1" },
    });
  const as = (account: string, args: readonly string[]) =>
    cluster.kubectl(["-n", ns, `--as=system:serviceaccount:${release}-system:${account}`, ...args]);
  const patch = (name: string, body: object) => cluster.api("PATCH", path(name), body, mergePatch);
  const remove = (name: string) => cluster.api("DELETE", path(name));

  beforeAll(async () => {
    for (const name of [ns, deletedNamespace]) await makeNamespace(cluster, name);
    await cluster.kubectl(["apply", "-f", "-"], await policies(cluster, release, namespaces));
    for (const account of [release, "other"]) {
      const subject = `--serviceaccount=${release}-system:${account}`;
      await cluster.kubectl(["-n", ns, "create", "rolebinding", account, "--clusterrole=admin", subject]);
    }
    for (const name of ["web-0123456789", "web-00000000ff"]) await create(name);
    await until("the policy to be in force", () =>
      cluster.kubectl(["-n", ns, "delete", "configmap", "web-0123456789", "--dry-run=server"]).then(
        () => undefined,
        () => true,
      ),
    );
  });
  afterAll(async () => {
    await cluster.kubectl(["delete", "-f", "-"], await policies(cluster, release, namespaces));
  });

  it("is not deleted by an administrator with kubectl, alone or with others", async () => {
    await expect(cluster.kubectl(["-n", ns, "delete", "configmap", "web-0123456789"])).rejects.toThrow(
      message("web-0123456789"),
    );
    await expect(cluster.api("DELETE", `${path()}?labelSelector=${pinnedCopyLabel}=true`)).rejects.toThrow(
      "is a pinned copy of Wave",
    );
    expect(await cluster.api("GET", path("web-0123456789"))).toMatchObject({ data: { a: "1" } });
  });

  it.for([
    ["its label", { metadata: { labels: { [pinnedCopyLabel]: null } } }],
    ["another label", { metadata: { labels: { a: "b" } } }],
    ["an annotation", { metadata: { annotations: { [copyOf]: "other" } } }],
    ["an owner", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "x", uid: "x" }] } }],
    ["a finalizer", { metadata: { finalizers: ["example.com/x"] } }],
  ] as const)("cannot lose or get %s", async ([, change]) => {
    await expect(patch("web-0123456789", change)).rejects.toThrow(
      JSON.stringify(message("web-0123456789")).slice(1, -1),
    );
  });

  it("keeps its content, which the API server protects itself", async () => {
    await expect(patch("web-0123456789", { data: { a: "2" } })).rejects.toThrow();
    expect(await cluster.api("GET", path("web-0123456789"))).toMatchObject({ data: { a: "1" } });
  });

  it("is a ConfigMap that anyone may edit if it only has the label", async () => {
    const name = "web-labelled";
    await cluster.api("POST", path(), { metadata: { name, labels: { [pinnedCopyLabel]: "true" } }, data: { a: "1" } });
    await patch(name, { data: { a: "2" } });
    await patch(name, { metadata: { labels: { [pinnedCopyLabel]: null } } });
    await remove(name);
  });

  it("is not protected in namespaces that this Wave does not watch", async () => {
    await makeNamespace(cluster, `${ns}-unwatched`);
    await create("web-0123456789", {}, `${ns}-unwatched`);
    await expect(cluster.api("DELETE", path("web-0123456789", `${ns}-unwatched`))).resolves.toBeDefined();
  });

  it("can be stored again without a change", async () => {
    const stored = await cluster.api("GET", path("web-0123456789"));
    await expect(cluster.api("PUT", path("web-0123456789"), stored)).resolves.toMatchObject({ data: { a: "1" } });
  });

  it("can be changed and deleted by Wave, and not by another ServiceAccount with the same permissions", async () => {
    await create("web-aaaaaaaaaa");
    const annotate = ["annotate", "configmap", "web-aaaaaaaaaa", "a=b"];
    await expect(as("other", annotate)).rejects.toThrow(message("web-aaaaaaaaaa"));
    await expect(as(release, annotate)).resolves.toContain("annotated");
    await expect(as("other", ["delete", "configmap", "web-aaaaaaaaaa"])).rejects.toThrow(message("web-aaaaaaaaaa"));
    await expect(as(release, ["delete", "configmap", "web-aaaaaaaaaa"])).resolves.toContain("deleted");
  });

  it.for(["generic-garbage-collector", "namespace-controller"])(
    "can be deleted by the %s of Kubernetes",
    async (account) => {
      await create("web-bbbbbbbbbb");
      const by = `--as=system:serviceaccount:kube-system:${account}`;
      await expect(cluster.kubectl([by, "-n", ns, "delete", "configmap", "web-bbbbbbbbbb"])).resolves.toContain(
        "deleted",
      );
    },
  );

  it("does not block the deletion of its Namespace, whichever client does it", async () => {
    await create("web-0123456789", {}, deletedNamespace);
    // The controllers of this control plane are administrators.
    await cluster.kubectl(["delete", "namespace", deletedNamespace, "--timeout=60s"]);
    await expect(cluster.api("GET", `/api/v1/namespaces/${deletedNamespace}`)).rejects.toThrow("404");
  });

  it("can be changed and deleted by anyone if the Namespace allows it", async () => {
    const allow = (value: string | null) =>
      cluster.api(
        "PATCH",
        `/api/v1/namespaces/${ns}`,
        { metadata: { annotations: { "wave.pusher.com/allow-copy-changes": value } } },
        mergePatch,
      );
    await allow("yes");
    await expect(remove("web-00000000ff")).rejects.toThrow("is a pinned copy");
    await allow("true");
    await until("the permission to be in force", async () => remove("web-00000000ff"));
    await allow(null);
    await create("web-00000000ff");
    await until("the permission to be gone", () =>
      patch("web-00000000ff", { metadata: { annotations: { [copyOf]: `${Math.random()}` } } }).then(
        () => undefined,
        () => true,
      ),
    );
  });
});

describeOnControlPlane("a ConfigMap that is not a pinned copy", (cluster) => {
  const namespace = "protected-copies-others";
  describe("with the policy for copies", () => {
    beforeAll(async () => {
      await makeNamespace(cluster, namespace);
      await cluster.kubectl(
        ["apply", "-f", "-"],
        await policies(cluster, "protection-others", `namespaces={${namespace}}`),
      );
    });
    afterAll(async () => {
      await cluster.kubectl(
        ["delete", "-f", "-"],
        await policies(cluster, "protection-others", `namespaces={${namespace}}`),
      );
    });

    it("can be created, changed and deleted, whatever labels it has", async () => {
      for (const labels of [undefined, {}, { a: "b" }, { [pinnedCopyLabel]: "false" }]) {
        await cluster.api<AnyObject>("POST", path("", namespace), {
          metadata: { name: "web", labels },
          data: { a: "1" },
        });
        const change = { data: { a: "2" }, metadata: { labels: { c: "d" } } };
        await cluster.api("PATCH", path("web", namespace), change, mergePatch);
        await cluster.api("DELETE", path("web", namespace));
      }
    });
  });
});
