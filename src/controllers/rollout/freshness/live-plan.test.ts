import { expect, it } from "vitest";
import { defaultPolicy, workload, workloadObject } from "../../../../test/support/domain/objects.ts";
import { classConfig } from "../../../domain/config/recorded-digests.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import { ConnectionError } from "../../../kube/api/api-failure.ts";
import { createLiveReads } from "./live-plan.ts";

/** Empty caches apart from these functions, no lists, and no end. */
const without = (caches: Partial<Parameters<typeof createLiveReads>[0]["caches"]>) => ({
  caches: { lookup: () => undefined, syncedUpTo: () => 0, found: () => {}, ...caches },
  listed: { confirmed: async () => new Map() },
  signal: new AbortController().signal,
});

it("after a failed read of one object, no other read starts for that workload, which may reference a thousand objects", async () => {
  const sources = Array.from({ length: 100 }, (_, index) => ({ configMapRef: { name: `config-${index}` } }));
  const asked: string[] = [];
  const request = async <T>({ path }: { path: string }): Promise<T> => {
    asked.push(path);
    if (asked.length === 1) throw new ConnectionError("broken");
    return JSON.parse(JSON.stringify({ metadata: { namespace: "default", name: path.split("/").at(-1) } }));
  };
  const reads = createLiveReads({
    client: { request },
    policy: defaultPolicy,
    ...without({}),
  });
  const reader = workload({ pod: { containers: [{ name: "web", envFrom: sources }] } });
  await expect(reads.lookup(reader)).rejects.toThrow("broken");
  const begun = asked.length;
  await new Promise((resolve) => setImmediate(resolve));
  expect([begun, asked.length]).toEqual([4, 4]);
});

it("what SecretProviderClasses fetch is not read live, and comes from the caches", async () => {
  const csi = { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } };
  const policy = { ...defaultPolicy, providerClasses: true };
  const object = workloadObject({ pod: { volumes: [{ name: "vault", csi }] } });
  const known = classConfig(
    { namespace: "default", name: "vault" },
    { digest: "a".repeat(32), since: 1, rotated: false },
  );
  const reads = createLiveReads({
    client: { request: () => Promise.reject(new Error("nothing is to be asked")) },
    policy,
    ...without({ lookup: (kind) => (kind === "SecretProviderClass" ? known : undefined) }),
  });
  const lookup = await reads.lookup(toWorkload(kinds.Deployment, object, policy));
  expect(lookup("SecretProviderClass", "default", "vault")).toBe(known);
});

it("reads tell the caches which objects they found, because a watch may show them only when they are gone again", async () => {
  const found: object[] = [];
  const request = async <T>({ path }: { path: string }): Promise<T> =>
    JSON.parse(JSON.stringify({ metadata: { namespace: "default", name: path.split("/").at(-1) } }));
  const reads = createLiveReads({
    client: { request },
    policy: defaultPolicy,
    ...without({ found: (object) => found.push(object) }),
  });
  const reader = workload({
    pod: { containers: [{ name: "web", envFrom: [{ configMapRef: { name: "page", optional: true } }] }] },
  });
  await reads.lookup(reader);
  await reads.firstLookup(reader);
  const page = { kind: "ConfigMap", namespace: "default", name: "page" };
  expect(found).toEqual([page, page]);
});
