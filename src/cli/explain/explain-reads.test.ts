import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { explainScene } from "../../../test/support/cli/explain.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";
import { ConnectionError } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readConfigs } from "../cluster/read/configs.ts";

const sandbox = await startSandbox({ controllers: false });
const { cluster, explain, explainJson } = explainScene(sandbox);

describe("wave explain", () => {
  it("reports unknown, with the reason, if it may not read a Secret", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const match = ({ path }: { readonly path: string }) => path.includes("/secrets/");
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out } = await explain();
    expect(code).toBe(3);
    expect(out).toContain(
      '\nNow          Unknown. Something that the decision depends on could not be read.\nWhy          Cannot read Secret "db". No Wave with leader election runs: there is no Lease wave in wave-system.\n',
    );
    expect(out).toMatch(/^Secret db {7}forbidden {2}password/m);
    expect(out).toMatch(/\nNot readable:\n {2}Secret "db": get secrets\/db in default: 403 Forbidden: .+\n/);
    expect(await explainJson()).toMatchObject({
      outcome: "unknown",
      currentHash: null,
      unread: [{ kind: "Secret", namespace: "default", name: "db", error: expect.stringContaining("403") }],
    });
  });

  it("notes certificates in projected volumes, which Wave does not track", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const sources = [
      { clusterTrustBundle: { name: "ca", path: "ca.crt" } },
      { podCertificate: { signerName: "example.com/signer", keyType: "ED25519" } },
    ];
    await cluster.call("PATCH", "/apis/apps/v1/namespaces/default/deployments/web", {
      spec: {
        template: {
          spec: {
            volumes: [
              { name: "page", configMap: { name: "page" } },
              { name: "certificates", projected: { sources } },
            ],
          },
        },
      },
    });
    const { out } = await explain();
    for (const kind of ["ClusterTrustBundle", "PodCertificate"])
      expect(out.replace(/\s+/g, " ")).toContain(
        `Wave does not track the ${kind} projections of volume "certificates". Their changes start no rollout.`,
      );
  });

  it("reports waiting if another object is missing, whatever the forbidden Secret contains", async () => {
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const match = ({ path }: { readonly path: string }) => path.includes("/secrets/");
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    expect(await explainJson()).toMatchObject({
      outcome: "waiting",
      missing: [{ kind: "ConfigMap", name: "page" }],
      unread: [{ kind: "Secret", name: "db" }],
    });
  });

  it("treats objects of other namespaces as the flags require", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.call("DELETE", "/api/v1/namespaces/kube-system/configmaps/theirs");
    await cluster.call("POST", "/api/v1/namespaces/kube-system/configmaps", {
      metadata: { name: "theirs" },
      data: { a: "b" },
    });
    await cluster.createWeb({
      [updateOnConfigChange]: "true",
      "wave.pusher.com/extra-configmaps": "kube-system/theirs",
    });
    const stateOfTheirs = async (...args: readonly string[]) => (await explainJson(...args)).references.at(-1).state;
    expect(await explainJson()).toMatchObject({ outcome: "waiting", missing: [{ namespace: "kube-system" }] });
    expect(await stateOfTheirs()).toBe("refused");
    expect(await stateOfTheirs("--cross-namespace=any")).toBe("present");
    expect((await explain()).out).toMatch(
      /^Warnings:\n {2}ConfigMap "kube-system\/theirs": missing, or not shared with this namespace\. /m,
    );
    expect((await explain()).out).toMatch(/^ConfigMap kube-system\/theirs {2}refused/m);
    await cluster.call("PATCH", "/api/v1/namespaces/kube-system/configmaps/theirs", {
      metadata: { annotations: { "wave.pusher.com/shared-with": "default" } },
    });
    expect(await stateOfTheirs()).toBe("present");
    const asked = sandbox.requests.length;
    expect(await stateOfTheirs("--cross-namespace=none")).toBe("refused");
    expect(sandbox.requests.slice(asked).map(({ name }) => name)).not.toContain("theirs");
    expect(await explainJson("--namespaces=shop")).toMatchObject({
      outcome: "ignore",
      reason: expect.stringContaining('Wave does not watch namespace "default"'),
    });
  });

  it("shows which annotation excludes an object", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.call("PATCH", "/api/v1/namespaces/default/configmaps/page", {
      metadata: { annotations: { "wave.pusher.com/ignore": "true" } },
    });
    await cluster.createWeb({ [updateOnConfigChange]: "true", "wave.pusher.com/exclude-secrets": "db" });
    const { outcome, references, missing } = await explainJson();
    const states = new Set(references.map(({ name, state }: Record<string, string>) => `${name} ${state}`));
    expect({ outcome, missing, states: [...states].sort() }).toEqual({
      outcome: "current",
      missing: [],
      states: ["db excluded", "page ignored"],
    });
  });

  it("plans without scheduling holds if the flag is false", async () => {
    const schedulingHold = { "wave.pusher.com/scheduling-disabled": "", [updateOnConfigChange]: "true" };
    await cluster.createWeb(schedulingHold, {}, { schedulerName: "wave.pusher.com/invalid" });
    expect(await explainJson()).toMatchObject({ outcome: "waiting", schedulingHold: "closed" });
    expect(await explainJson("--scheduling-hold=false")).toMatchObject({
      outcome: "cleanUp",
      schedulingHold: "closed",
    });
  });

  it("reads all objects at the same time", async () => {
    const names = ["a", "b", "c"];
    const all = Promise.withResolvers<void>();
    let asked = 0;
    const request = async () => {
      if (++asked === names.length) all.resolve();
      await all.promise;
      throw new ConnectionError("no matter");
    };
    const objects = names.map((name) => ({ kind: "Secret", namespace: "default", name }) as const);
    const read = await readConfigs({ request } as unknown as ApiClient, objects);
    expect([...read.values()]).toEqual(names.map(() => ({ state: "unreadable", error: "no matter" })));
  });

  it("does not request an object with an invalid name", async () => {
    const request = () => Promise.reject(new Error("it was asked for"));
    const object = { kind: "Secret", namespace: "default", name: "../../shop/secrets/db" } as const;
    const read = await readConfigs({ request } as unknown as ApiClient, [object]);
    expect([...read.values()]).toEqual([{ state: "absent" }]);
  });

  it("only reads, and each object once", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createWeb();
    const before = sandbox.requests.length;
    await explain();
    const asked = sandbox.requests.slice(before).map(({ verb, resource, name = "" }) => `${verb} ${resource}/${name}`);
    const gets = ["get configmaps/page", "get deployments/web", "get namespaces/default", "get secrets/db"];
    expect(asked.sort()).toEqual([...gets, "list deployments/", "list pods/"]);
  });

  it("never shows a value of a ConfigMap or Secret, or a digest of a value", async () => {
    const value = fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom(..."QXZ#~^") });
    await fc.assert(
      fc.asyncProperty(value, value, fc.boolean(), async (page, password, keyIsThere) => {
        await cluster.clean();
        await cluster.createConfigMap("page", { "index.html": page });
        await cluster.createSecret({ [keyIsThere ? "password" : "another"]: password });
        await cluster.createWeb();
        const shown = (await explain()).out + (await explain("-o", "json")).out;
        for (const secret of [page, password]) {
          const digest = createHash("sha256").update(secret).digest();
          const forms = [
            secret,
            Buffer.from(secret).toString("base64"),
            digest.toString("hex"),
            digest.toString("base64"),
          ];
          for (const form of forms) expect(shown).not.toContain(form);
        }
      }),
      { numRuns: 20 },
    );
  });
});
