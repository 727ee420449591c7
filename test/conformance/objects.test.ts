import { expect, it } from "vitest";
import type { Body } from "./api.ts";
import { describeApiServers } from "./targets.ts";

describeApiServers("objects", (target) => {
  const configMaps = () => `${target().namespace}/configmaps`;
  const secrets = () => `${target().namespace}/secrets`;
  const deployments = () => `/apis/apps/v1/namespaces/${target().namespaceName}/deployments`;

  it("are created with a UID, a resourceVersion and a creation time", async () => {
    const { status, body } = await target().api.call("POST", configMaps(), {
      body: { metadata: { name: "made" }, data: { a: "b" } },
    });
    expect(status).toBe(201);
    expect(body.kind).toBe("ConfigMap");
    expect(body.metadata).toMatchObject({ name: "made", namespace: target().namespaceName });
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(0);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(body.metadata.generation).toBeUndefined();
  });

  it("get a unique name from generateName", async () => {
    const { body } = await target().api.call("POST", configMaps(), { body: { metadata: { generateName: "many-" } } });
    expect(body.metadata.name).toMatch(/^many-[a-z0-9]{5}$/);
  });

  it("are refused with 409 AlreadyExists when they are created a second time", async () => {
    const body = { metadata: { name: "twice" } };
    await target().api.call("POST", configMaps(), { body });
    const again = await target().api.call("POST", configMaps(), { body });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      kind: "Status",
      reason: "AlreadyExists",
      details: { name: "twice", kind: "configmaps" },
    });
    expect(again.body.message).toBe('configmaps "twice" already exists');
  });

  it("that do not exist are answered with 404 NotFound", async () => {
    const { status, body } = await target().api.call("GET", `${deployments()}/nothing`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ reason: "NotFound", message: 'deployments.apps "nothing" not found', code: 404 });
  });

  it("are refused in a namespace that does not exist", async () => {
    const { status, body } = await target().api.call("POST", "/api/v1/namespaces/nowhere/configmaps", {
      body: { metadata: { name: "a" } },
    });
    expect(status).toBe(404);
    expect(body.message).toBe('namespaces "nowhere" not found');
  });

  it("are refused with 409 Conflict when replaced from an older resourceVersion", async () => {
    const { body: first } = await target().api.call("POST", configMaps(), { body: { metadata: { name: "raced" } } });
    const path = `${configMaps()}/raced`;
    const winner = await target().api.call("PUT", path, { body: { ...first, data: { a: "1" } } });
    expect(winner.status).toBe(200);
    const loser = await target().api.call("PUT", path, { body: { ...first, data: { a: "2" } } });
    expect(loser.status).toBe(409);
    expect(loser.body).toMatchObject({ reason: "Conflict", details: { name: "raced", kind: "configmaps" } });
    expect(loser.body.message).toContain("the object has been modified");
  });

  it("keep their resourceVersion when a write changes nothing", async () => {
    const { body: made } = await target().api.call("POST", configMaps(), {
      body: { metadata: { name: "still" }, data: { a: "b" } },
    });
    const { body: again } = await target().api.call("PUT", `${configMaps()}/still`, { body: made });
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it("are returned and not stored in a dry run", async () => {
    const body = { metadata: { name: "dry" }, data: { a: "b" } };
    const made = await target().api.call("POST", configMaps(), { body, query: { dryRun: "All" } });
    expect(made.status).toBe(201);
    expect(made.body.metadata.uid).toBeTruthy();
    expect((await target().api.call("GET", `${configMaps()}/dry`)).status).toBe(404);
  });

  it("wait for their finalizers before they are removed", async () => {
    const path = `${configMaps()}/held`;
    await target().api.call("POST", configMaps(), {
      body: { metadata: { name: "held", finalizers: ["example.com/held"] } },
    });
    await target().api.call("DELETE", path);
    const { body: held } = await target().api.call("GET", path);
    expect(held.metadata.deletionTimestamp).toBeTruthy();
    await target().api.call("PATCH", path, {
      body: { metadata: { finalizers: null } },
      contentType: "application/merge-patch+json",
    });
    expect((await target().api.call("GET", path)).status).toBe(404);
  });

  it("are not deleted if the request has another UID", async () => {
    await target().api.call("POST", configMaps(), { body: { metadata: { name: "meant" } } });
    const path = `${configMaps()}/meant`;
    const { status } = await target().api.call("DELETE", path, { body: { preconditions: { uid: "another" } } });
    expect(status).toBe(409);
    expect((await target().api.call("GET", path)).status).toBe(200);
  });

  it("of kind Secret store stringData as data", async () => {
    const body = { metadata: { name: "text" }, stringData: { a: "b" }, data: { c: "ZA==" } };
    const { body: made } = await target().api.call("POST", secrets(), { body });
    expect(made).toMatchObject({ type: "Opaque", data: { a: "Yg==", c: "ZA==" } });
    expect(made.stringData).toBeUndefined();
  });

  it("that are immutable keep their data", async () => {
    const body = { metadata: { name: "fixed" }, data: { a: "b" }, immutable: true };
    await target().api.call("POST", configMaps(), { body });
    const contentType = "application/merge-patch+json";
    const changed = await target().api.call("PATCH", `${configMaps()}/fixed`, {
      body: { data: { a: "c" } },
      contentType,
    });
    expect(changed.status).toBe(422);
    expect(changed.body).toMatchObject({ reason: "Invalid", details: { causes: [{ field: "data" }] } });
    const labelled = await target().api.call("PATCH", `${configMaps()}/fixed`, {
      body: { metadata: { labels: { a: "b" } } },
      contentType,
    });
    expect(labelled.status).toBe(200);
  });

  it("omit empty maps and lists, so a JSON Patch cannot add to them", async () => {
    const body = { metadata: { name: "bare", annotations: {}, labels: null, finalizers: [] }, data: {} };
    const { body: made } = await target().api.call("POST", configMaps(), { body });
    expect(made.metadata).not.toHaveProperty("annotations");
    expect(made.metadata).not.toHaveProperty("labels");
    expect(made.metadata).not.toHaveProperty("finalizers");
    expect(made).not.toHaveProperty("data");
  });

  it("show their fields in the same order, in whichever order clients write them", async () => {
    const path = `${deployments()}/ordered`;
    const labels = { app: "ordered" };
    const written = (template: object) => ({
      metadata: { name: "ordered" },
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    });
    const shown = (reply: { readonly body: Body }) => JSON.stringify(reply.body.spec);
    const created = await target().api.call("POST", deployments(), {
      body: written({
        spec: { serviceAccountName: "robot", containers: [{ name: "main", image: "main:1" }] },
        metadata: { annotations: { b: "", a: "" }, labels },
      }),
    });
    const annotate = (a: string | null) =>
      target().api.call("PATCH", path, {
        body: { spec: { template: { metadata: { annotations: { a } } } } },
        contentType: "application/merge-patch+json",
      });
    await annotate(null);
    expect(shown(await annotate(""))).toBe(shown(created));
    const replaced = await target().api.call("PUT", path, {
      body: written({
        metadata: { labels, annotations: { a: "", b: "" } },
        spec: { containers: [{ image: "main:1", name: "main" }], serviceAccountName: "robot" },
      }),
    });
    expect(shown(replaced)).toBe(shown(created));
  });

  const refusals: [string, object, number, string][] = [
    ["a name in capitals", { metadata: { name: "Big" } }, 422, "metadata.name: Invalid value"],
    ["no name", { metadata: {} }, 422, "metadata.name: Required value: name or generateName is required"],
    ["a number as a value", { metadata: { name: "n" }, data: { a: 1 } }, 400, "of type string"],
    [
      "an annotation true without quotes",
      { metadata: { name: "n", annotations: { a: true } } },
      400,
      "cannot unmarshal bool",
    ],
    [
      "another kind",
      { kind: "Secret", apiVersion: "v1", metadata: { name: "n" } },
      400,
      "cannot be handled as a ConfigMap",
    ],
  ];
  it.each(refusals)("with %s are refused", async (_, body, status, message) => {
    const reply = await target().api.call("POST", configMaps(), { body });
    expect(reply.status).toBe(status);
    expect(reply.body.message).toContain(message);
  });

  it("whose selector does not match their template are refused with every cause", async () => {
    const body = {
      metadata: { name: "unmatched" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "c" } }, spec: { containers: [] } },
      },
    };
    const reply = await target().api.call("POST", deployments(), { body });
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({
      reason: "Invalid",
      details: {
        name: "unmatched",
        group: "apps",
        kind: "Deployment",
        causes: [
          { reason: "FieldValueInvalid", field: "spec.template.metadata.labels" },
          { reason: "FieldValueRequired", field: "spec.template.spec.containers" },
        ],
      },
    });
  });

  it("with a field that does not exist are refused in strict validation, and cause a warning otherwise", async () => {
    const body = { metadata: { name: "typo" }, dat: { a: "b" } };
    const strict = await target().api.call("POST", configMaps(), { body, query: { fieldValidation: "Strict" } });
    expect(strict.status).toBe(400);
    expect(strict.body.message).toContain('strict decoding error: unknown field "dat"');
    const lenient = await target().api.call("POST", configMaps(), { body, query: { fieldValidation: "Warn" } });
    expect(lenient.status).toBe(201);
    expect(lenient.headers.warning).toContain("unknown field");
    expect(lenient.body).not.toHaveProperty("dat");
  });

  it("of a kind that is not served are answered with 404", async () => {
    const { status, body } = await target().api.call("GET", "/api/v1/nothings");
    expect(status).toBe(404);
    expect(body).toMatchObject({ kind: "Status", message: "the server could not find the requested resource" });
  });

  it("of kind Lease change their holder only with the current resourceVersion", async () => {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${target().namespaceName}/leases`;
    const spec = {
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    };
    const { body: made } = await target().api.call("POST", leases, { body: { metadata: { name: "wave" }, spec } });
    expect(made.spec).toEqual(spec);
    const renewed = { ...made, spec: { ...spec, renewTime: "2026-01-01T00:00:02.000000Z" } };
    expect((await target().api.call("PUT", `${leases}/wave`, { body: renewed })).status).toBe(200);
    const stolen = { ...made, spec: { ...spec, holderIdentity: "b" } };
    expect((await target().api.call("PUT", `${leases}/wave`, { body: stolen })).status).toBe(409);
  });

  it("of kind Event are created next to their object, and a patch raises their count", async () => {
    const events = `${target().namespace}/events`;
    const involvedObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: target().namespaceName,
      name: "a",
      uid: "u",
    };
    const event = {
      metadata: { name: "a.1" },
      involvedObject,
      reason: "Changed",
      message: "it changed",
      type: "Normal",
      count: 1,
    };
    expect((await target().api.call("POST", events, { body: event })).status).toBe(201);
    const contentType = "application/merge-patch+json";
    const { body: counted } = await target().api.call("PATCH", `${events}/a.1`, { body: { count: 2 }, contentType });
    expect(counted.count).toBe(2);
    const elsewhere = { ...event, involvedObject: { ...involvedObject, namespace: "elsewhere" } };
    expect((await target().api.call("POST", events, { body: elsewhere })).status).toBe(422);
  });
});
