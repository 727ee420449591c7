import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createAuthority, issueServingCertificate } from "../../src/webhook/certificates/certificates.ts";
import type { Body } from "./api.ts";
import { describeApiServers, eventually } from "./targets.ts";

const merge = "application/merge-patch+json";
const configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
const authority = createAuthority("authority", validity);
const serving = issueServingCertificate(authority, ["127.0.0.1"], validity);

/** A review that a webhook receives. */
interface Asked {
  readonly uid: string;
  readonly operation: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly namespace: string;
  readonly name: string;
  readonly object: Body;
  readonly oldObject: Body | null;
  readonly dryRun: boolean;
  readonly options: { readonly fieldManager?: string };
}

type Answer = { readonly allowed: boolean; readonly [field: string]: unknown };

describeApiServers("webhooks", (target) => {
  let server: Server;
  let asked: Asked[] = [];
  let answer: (request: Asked) => Answer | Promise<Answer> = () => ({ allowed: true });

  beforeAll(async () => {
    server = createServer({ cert: serving.certificate.pem, key: serving.key }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", async () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as { request: Asked };
        asked.push(review.request);
        const told = {
          ...review,
          request: undefined,
          response: { uid: review.request.uid, ...(await answer(review.request)) },
        };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(told));
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const caBundle = Buffer.from(authority.certificate.pem).toString("base64");
    await register("asked", { url: `https://127.0.0.1:${port}/mutate`, caBundle }, "Ignore", {});
    await register("fails", { url: "https://127.0.0.1:1/mutate", caBundle }, "Fail", { fails: "true" });
    await register("ignored", { url: "https://127.0.0.1:1/mutate", caBundle }, "Ignore", { ignored: "true" });
    // A real API server needs a moment until it uses the webhooks.
    await eventually(async () => {
      await create("learnt");
      await target().api.call("DELETE", path("learnt"));
      const { status } = await create("learnt-too", { fails: "true" });
      return asked.length > 0 && status === 500;
    });
  });
  afterEach(() => {
    asked = [];
    answer = () => ({ allowed: true });
  });
  afterAll(async () => {
    for (const name of ["asked", "fails", "ignored"])
      await target().api.call("DELETE", `${configurations}/${nameOf(name)}`);
    server.close();
  });

  const nameOf = (name: string) => `${target().namespaceName}-${name}`;
  const register = (name: string, clientConfig: object, failurePolicy: string, matchLabels: object) => {
    const webhook = {
      name: `${name}.example.com`,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig,
      failurePolicy,
      timeoutSeconds: 2,
      rules: [
        { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE", "UPDATE"] },
      ],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": target().namespaceName } },
      objectSelector: { matchLabels },
    };
    return target().api.call("POST", configurations, {
      body: { metadata: { name: nameOf(name) }, webhooks: [webhook] },
    });
  };
  const path = (name = "") =>
    `/apis/apps/v1/namespaces/${target().namespaceName}/deployments/${name}`.replace(/\/$/, "");
  const create = (name: string, labels: object = {}, query: Readonly<Record<string, string>> = {}) => {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: "c", image: "c:1" }] } };
    const spec = { replicas: 0, selector: { matchLabels: { app: name } }, template };
    return target().api.call("POST", path(), { body: { metadata: { name, labels }, spec }, query });
  };
  /** Waits until the controller of the Deployment has finished its writes. */
  const settled = (name: string) =>
    eventually(async () => {
      const { metadata, status } = (await target().api.call("GET", path(name))).body;
      return metadata.annotations !== undefined && (status as { observedGeneration?: number }).observedGeneration === 1;
    });
  const annotate = (value: string) => ({ metadata: { annotations: { value } } });
  const patchOf = (...operations: object[]) => ({
    allowed: true,
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
  });

  it("receive the object that would be stored, and the object that it would replace", async () => {
    const query = { fieldManager: "somebody" };
    await create("seen", {}, query);
    await settled("seen");
    const { body } = await target().api.call("PATCH", path("seen"), { body: annotate("1"), contentType: merge, query });
    const [created, updated, ...more] = asked.filter(({ options }) => options.fieldManager === "somebody");
    expect(more).toEqual([]);
    expect(created).toMatchObject({
      operation: "CREATE",
      kind: { group: "apps", version: "v1", kind: "Deployment" },
      namespace: target().namespaceName,
      name: "seen",
      object: { spec: { revisionHistoryLimit: 10, template: { spec: { schedulerName: "default-scheduler" } } } },
      oldObject: null,
      dryRun: false,
    });
    expect(updated).toMatchObject({
      operation: "UPDATE",
      object: { metadata: { uid: body.metadata.uid, annotations: { value: "1" } } },
      oldObject: { metadata: { uid: body.metadata.uid } },
    });
  });

  it("change the stored object, and no field manager owns the change", async () => {
    answer = () => patchOf({ op: "add", path: "/metadata/annotations", value: { by: "webhook" } });
    const { body, status } = await create("changed", {}, { fieldManager: "somebody" });
    expect(status).toBe(201);
    expect(body.metadata.annotations).toMatchObject({ by: "webhook" });
    expect(JSON.stringify(body.metadata.managedFields)).not.toContain("f:by");
    answer = () => patchOf({ op: "replace", path: "/metadata/annotations/value", value: "2" });
    const query = { fieldManager: "else" };
    const { body: after } = await target().api.call("PATCH", path("changed"), {
      body: annotate("1"),
      contentType: merge,
      query,
    });
    expect(after.metadata.annotations).toMatchObject({ by: "webhook", value: "2" });
    const fields = after.metadata.managedFields?.find(({ manager }) => manager === "else")?.fieldsV1;
    expect(fields).toMatchObject({ "f:metadata": { "f:annotations": { "f:value": {} } } });
  });

  it("do not change the order of fields", async () => {
    answer = () => patchOf({ op: "add", path: "/metadata/annotations", value: { b: "", a: "" } });
    const { body } = await create("ordered");
    expect(Object.keys(body.metadata.annotations ?? {})).toEqual(["a", "b"]);
  });

  it("warn the client that wrote, and refuse", async () => {
    answer = () => ({ allowed: true, warnings: ["look out"] });
    expect((await create("warned")).headers.warning).toBe('299 - "look out"');
    answer = () => ({ allowed: false, status: { message: "not today", code: 403 } });
    const { status, body } = await create("refused");
    expect(status).toBe(403);
    expect(body.message).toBe('admission webhook "asked.example.com" denied the request: not today');
  });

  it("are called in a dry run, but not for a subresource or another kind", async () => {
    await create("dry", {}, { dryRun: "All" });
    expect(asked).toMatchObject([{ name: "dry", dryRun: true }]);
    await create("scaled");
    asked = [];
    await target().api.call("PATCH", `${path("scaled")}/scale`, {
      body: { spec: { replicas: 1 } },
      contentType: merge,
    });
    await target().api.call("POST", `${target().namespace}/configmaps`, {
      body: { metadata: { name: "no-workload" } },
    });
    expect(asked).toEqual([]);
  });

  it("admit or refuse a request that they cannot review, as their failurePolicy specifies", async () => {
    expect((await create("passes", { ignored: "true" })).status).toBe(201);
    const { status, body } = await create("fails", { fails: "true" });
    expect(status).toBe(500);
    expect(body.message).toContain('failed calling webhook "fails.example.com"');
  });

  it("are called again for a patch whose object changed meanwhile, and this is no reason to refuse the patch", async () => {
    await create("raced");
    await settled("raced");
    let between = 0;
    const change = (value: string) => ({ body: { metadata: { labels: { between: value } } }, contentType: merge });
    answer = async ({ options }) => {
      if (options.fieldManager !== "slow" || between > 0) return { allowed: true };
      await target().api.call("PATCH", path("raced"), change(`v${++between}`));
      return { allowed: true };
    };
    const query = { fieldManager: "slow" };
    const { status, body } = await target().api.call("PATCH", path("raced"), {
      body: annotate("2"),
      contentType: merge,
      query,
    });
    expect(status).toBe(200);
    expect(body.metadata).toMatchObject({ labels: { between: "v1" }, annotations: { value: "2" } });
    expect(asked.filter(({ options }) => options.fieldManager === "slow").length).toBe(2);
  });

  it("are called once for a replacement whose resourceVersion is outdated by then, and which is refused", async () => {
    const { body: live } = await create("replaced");
    let between = 0;
    answer = async ({ options }) => {
      if (options.fieldManager !== "slow") return { allowed: true };
      const body = { metadata: { labels: { between: `v${++between}` } } };
      await target().api.call("PATCH", path("replaced"), { body, contentType: merge });
      return { allowed: true };
    };
    const metadata = { ...live.metadata, annotations: { value: "3" } };
    const { status } = await target().api.call("PUT", path("replaced"), {
      body: { ...live, metadata },
      query: { fieldManager: "slow" },
    });
    expect(status).toBe(409);
  });
});
