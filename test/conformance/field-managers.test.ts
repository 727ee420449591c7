import { expect, it } from "vitest";
import type { Body } from "./api.ts";
import { apply, deployment, json, merge, patching } from "./patching.ts";
import { describeApiServers } from "./targets.ts";

describeApiServers("field managers", (target) => {
  const { configMaps, apps, create, patch, template } = patching(target);

  it("give each field manager one entry with the time of its last change", async () => {
    await create(configMaps(), { metadata: { name: "managed" }, data: { a: "1" } });
    const path = `${configMaps()}/managed`;
    const first = await patch(path, merge, { data: { b: "1" } }, { fieldManager: "second" });
    const entry = first.body.metadata.managedFields?.find(({ manager }) => manager === "second");
    expect(entry).toMatchObject({ operation: "Update", fieldsV1: { "f:data": { "f:b": {} } } });
    expect(first.body.metadata.managedFields?.find(({ manager }) => manager === "conformance")).toBeTruthy();
    // Times are in whole seconds, so a change is visible only after the next second begins.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const same = await patch(path, merge, { data: { b: "1" } }, { fieldManager: "second" });
    expect(same.body.metadata.managedFields).toEqual(first.body.metadata.managedFields);
    const changed = await patch(path, merge, { data: { b: "2" } }, { fieldManager: "second" });
    const later = changed.body.metadata.managedFields?.find(({ manager }) => manager === "second");
    expect(Date.parse(later?.time ?? "")).toBeGreaterThan(Date.parse(entry?.time ?? ""));
    const others = (body: Body) => body.metadata.managedFields?.filter(({ manager }) => manager !== "second");
    expect(others(changed.body)).toEqual(others(first.body));
  });

  it("take a field over from the manager that wrote it earlier", async () => {
    await create(configMaps(), { metadata: { name: "taken" }, data: { a: "1" } });
    const { body } = await patch(`${configMaps()}/taken`, merge, { data: { a: "2" } }, { fieldManager: "second" });
    const owners = body.metadata.managedFields?.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('"f:a"'));
    expect(owners?.map(({ manager }) => manager)).toEqual(["second"]);
  });

  it("lose a field that a client takes from their entry", async () => {
    await create(configMaps(), { metadata: { name: "given-up" }, data: { a: "1", b: "1" } });
    const path = `${configMaps()}/given-up`;
    const operations = [{ op: "remove", path: "/metadata/managedFields/0/fieldsV1/f:data/f:b" }];
    const { body } = await patch(path, json, operations, { fieldManager: "second" });
    expect(body.metadata.managedFields).toMatchObject([{ manager: "conformance" }]);
    expect(body.metadata.managedFields?.[0]?.fieldsV1).toEqual({ "f:data": { ".": {}, "f:a": {} } });
    expect(body.data).toEqual({ a: "1", b: "1" });
  });

  it("of type apply create missing objects, and conflict over a field of another manager", async () => {
    const path = `${configMaps()}/applied`;
    const configuration = (data: object) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "applied" },
      data,
    });
    const made = await patch(path, apply, configuration({ a: "1", b: "1" }), { fieldManager: "one" });
    expect(made.status).toBe(201);
    const entries = made.body.metadata.managedFields;
    expect(entries).toMatchObject([
      { manager: "one", operation: "Apply", fieldsV1: { "f:data": { "f:a": {}, "f:b": {} } } },
    ]);
    const refused = await patch(path, apply, configuration({ a: "2" }), { fieldManager: "two" });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      reason: "Conflict",
      message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
      details: { causes: [{ reason: "FieldManagerConflict", field: ".data.a" }] },
    });
    const forced = await patch(path, apply, configuration({ a: "2" }), { fieldManager: "two", force: "true" });
    expect(forced.body.data).toEqual({ a: "2", b: "1" });
    const withdrawn = await patch(path, apply, configuration({}), { fieldManager: "one" });
    expect(withdrawn.body.data).toEqual({ a: "2" });
  });

  it("of type apply need a field manager", async () => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "nobody" } };
    const { status, body: refused } = await patch(`${configMaps()}/nobody`, apply, body);
    expect(status).toBe(422);
    expect(refused.message).toContain("fieldManager: Required value");
  });

  it("of type apply keep the fields that another manager set on the same container", async () => {
    await create(apps("deployments"), deployment("shared"));
    const path = `${apps("deployments")}/shared`;
    const configuration = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "shared" },
      spec: {
        template: {
          metadata: { annotations: { hash: "1" } },
          spec: { containers: [{ name: "main", env: [{ name: "C", value: "3" }] }] },
        },
      },
    };
    const { status, body } = await patch(path, apply, configuration, { fieldManager: "hasher" });
    expect(status).toBe(200);
    expect(template(body).spec.containers[0]).toMatchObject({
      name: "main",
      image: "nginx:1",
      env: [
        { name: "A", value: "1" },
        { name: "C", value: "3" },
      ],
    });
  });
});
