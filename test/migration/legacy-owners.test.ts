import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, optIn, workload, workloadKinds } from "../end-to-end/objects.ts";
import { settledRevisions, waveEvents } from "../end-to-end/state.ts";
import { finalizer, ownedIn } from "../owner-references/owned.ts";
import { auditWritten, leftBehind, startFor, untilUnchanged, writesIn } from "./migrated.ts";

const reads = (name: string) => ({ containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] });

describeOnControlPlane("the owner references of the first versions of Wave in Go", (cluster) => {
  /** The format of these versions: https://github.com/wave-k8s/wave/blob/v0.5.0/pkg/core/owner_references.go. */
  async function leave(ns: string) {
    const namespace = await makeNamespace(cluster, ns);
    const owned = ownedIn(cluster, ns);
    const ownedBy = async (kind: (typeof workloadKinds)[number]["kind"], name: string) => {
      const uid = (await owned.workload(kind, name))?.metadata.uid;
      return { apiVersion: "apps/v1", kind, name, uid, blockOwnerDeletion: true, controller: false };
    };
    return { namespace, ...owned, ownedBy };
  }
  const start = async (ns: string, ...flags: readonly string[]) => {
    const wave = await startFor(cluster, ns, ...flags);
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    return wave;
  };

  it("are removed with --migrate-legacy: everything of Wave, nothing of other owners, and no workload is restarted", async () => {
    const ns = "legacy-owners";
    const { namespace, ownedBy, own, finalize, untilOwned, untilFinalizers, untilGone, ...owned } = await leave(ns);
    for (const name of ["settings", "unread", "shared", "others"]) await namespace.configMap(name, { a: "1" });
    await namespace.secret("login", { password: "pass" });
    for (const { kind } of workloadKinds) await namespace.create(workload("web", reads("settings"), { kind }));
    const optedOut = { annotations: { "wave.pusher.com/update-on-config-change": "false" } };
    await namespace.create(workload("out", reads("shared"), optedOut));
    await namespace.create(workload("theirs", reads("none"), optedOut));
    await namespace.create(workload("deleted", reads("settings")));

    const owners = await Promise.all(workloadKinds.map(({ kind }) => ownedBy(kind, "web")));
    const [out, theirs, deleted] = await Promise.all(
      ["out", "theirs", "deleted"].map((name) => ownedBy("Deployment", name)),
    );
    const controller = { ...out, controller: true };
    await own("configmaps/settings", [...owners, deleted]);
    await own("secrets/login", owners);
    await own("configmaps/unread", [deleted, owners[0]]);
    await own("configmaps/shared", [out, theirs, deleted]);
    await own("configmaps/others", [controller]);
    for (const { kind } of workloadKinds) await finalize(kind, "web", ["example.com/other", finalizer]);
    for (const name of ["out", "deleted"]) await finalize("Deployment", name, [finalizer]);
    await owned.delete("Deployment", "deleted", "Background");

    const first = await start(ns, "--migrate-legacy");
    await untilGone("Deployment", "deleted");
    for (const { kind } of workloadKinds) await untilFinalizers(kind, "web", "example.com/other");
    await untilFinalizers("Deployment", "out");
    for (const name of ["configmaps/settings", "configmaps/unread", "secrets/login"]) await untilOwned(name);
    await untilOwned("configmaps/shared", "Deployment/theirs");
    expect(await owned.owners("configmaps/others")).toMatchObject([{ name: "out", controller: true }]);
    for (const { kind } of workloadKinds) await untilUnchanged(first, kind, "web");
    expect(await first.stop()).toBe(0);
    expect(first.log()).not.toContain("pass");

    await auditWritten(cluster);
    const written = writesIn(cluster, ns);
    const revisions = await settledRevisions(cluster, ns, "Deployment", "web");
    const second = await start(ns, "--migrate-legacy");
    for (const { kind } of workloadKinds) await untilUnchanged(second, kind, "web");
    expect(await second.stop()).toBe(0);
    await auditWritten(cluster);
    expect(writesIn(cluster, ns)).toEqual(written);
    expect(await settledRevisions(cluster, ns, "Deployment", "web")).toBe(revisions);
  });

  it("are kept without --migrate-legacy, and reported", async () => {
    const ns = "legacy-owners-left";
    const { namespace, ownedBy, own, finalize, untilOwned, untilFinalizers } = await leave(ns);
    await namespace.configMap("settings", { a: "1" });
    const created = leftBehind("web", reads("settings"), { annotations: optIn });
    await namespace.create(created);
    await own("configmaps/settings", [await ownedBy("Deployment", "web")]);
    await finalize("Deployment", "web", [finalizer]);
    const wave = await start(ns);
    await until("an Event", async () =>
      (await waveEvents(cluster, ns, "web")).find(({ reason }) => reason === "OldFinalizer"),
    );
    await untilUnchanged(wave, "Deployment", "web");
    expect(await wave.stop()).toBe(0);
    await untilOwned("configmaps/settings", "Deployment/web");
    await untilFinalizers("Deployment", "web", finalizer);
    await auditWritten(cluster);
    expect(writesIn(cluster, ns)).toEqual(["patch deployments web"]);
  });

  it("are taken over by --owner-references, which protects them afterwards", async () => {
    const ns = "legacy-owners-kept";
    const { namespace, ownedBy, own, finalize, untilOwned, ...owned } = await leave(ns);
    for (const name of ["settings", "unread"]) await namespace.configMap(name, { a: "1" });
    await namespace.create(workload("web", reads("settings")));
    for (const name of ["settings", "unread"]) await own(`configmaps/${name}`, [await ownedBy("Deployment", "web")]);
    await finalize("Deployment", "web", [finalizer]);
    const wave = await start(ns, "--owner-references");
    await untilOwned("configmaps/settings", "Deployment/web", `Namespace/${ns}`);
    await untilOwned("configmaps/unread");
    expect(await owned.finalizers("Deployment", "web")).toEqual([finalizer]);
    expect(await wave.stop()).toBe(0);
  });
});
