import { expect, it } from "vitest";
import { deployment, json, merge, patching, strategic } from "./patching.ts";
import { describeApiServers } from "./targets.ts";

describeApiServers("patches", (target) => {
  const { configMaps, apps, create, patch, template } = patching(target);

  it("of JSON whose test fails are refused with 422 Invalid and change nothing", async () => {
    await create(configMaps(), { metadata: { name: "tested" }, data: { a: "b" } });
    const path = `${configMaps()}/tested`;
    const operations = [
      { op: "test", path: "/metadata/uid", value: "another" },
      { op: "replace", path: "/data/a", value: "c" },
    ];
    const { status, body } = await patch(path, json, operations);
    expect(status).toBe(422);
    expect(body).toMatchObject({
      reason: "Invalid",
      message: "the server rejected our request due to an error in our request",
      details: {},
    });
    expect((await target().api.call("GET", path)).body.data).toEqual({ a: "b" });
  });

  const broken: [string, unknown, number][] = [
    ["a test of a path that is not there", [{ op: "test", path: "/metadata/annotations/x", value: "y" }], 422],
    [
      "a test on null below a map that is not there",
      [{ op: "test", path: "/metadata/annotations/x", value: null }],
      422,
    ],
    ["an addition below a map that is not there", [{ op: "add", path: "/metadata/annotations/x", value: "y" }], 422],
    ["a removal of what is not there", [{ op: "remove", path: "/data/zzz" }], 422],
    ["a replacement below a map that is not there", [{ op: "replace", path: "/binaryData/zzz", value: "eQ==" }], 422],
    [
      "a replacement of an item that is not there",
      [{ op: "replace", path: "/metadata/managedFields/9", value: {} }],
      422,
    ],
    ["an object instead of operations", { op: "test" }, 400],
  ];
  it.each(broken)("of JSON with %s are refused", async (what, operations, status) => {
    const name = what.replaceAll(" ", "-").toLowerCase();
    await create(configMaps(), { metadata: { name }, data: { a: "b" } });
    expect((await patch(`${configMaps()}/${name}`, json, operations)).status).toBe(status);
  });

  it("of JSON may replace a missing field, contrary to RFC 6902", async () => {
    await create(configMaps(), { metadata: { name: "replaced" }, data: { a: "b" } });
    const { status, body } = await patch(`${configMaps()}/replaced`, json, [
      { op: "replace", path: "/data/c", value: "d" },
    ]);
    expect(status).toBe(200);
    expect(body.data).toEqual({ a: "b", c: "d" });
  });

  it("of JSON pass a test on null for a missing field", async () => {
    await create(configMaps(), { metadata: { name: "nulls" }, data: { a: "b" } });
    const operations = [
      { op: "test", path: "/metadata/annotations", value: null },
      { op: "add", path: "/metadata/annotations", value: { x: "y" } },
    ];
    const { status, body } = await patch(`${configMaps()}/nulls`, json, operations);
    expect(status).toBe(200);
    expect(body.metadata.annotations).toEqual({ x: "y" });
  });

  it("of JSON may add a missing map, and then add to this map", async () => {
    await create(configMaps(), { metadata: { name: "brought" }, data: { a: "b" } });
    const { status, body } = await patch(`${configMaps()}/brought`, json, [
      { op: "test", path: "/metadata/annotations", value: null },
      { op: "add", path: "/metadata/annotations", value: {} },
      { op: "add", path: "/metadata/annotations/x", value: "y" },
    ]);
    expect(status).toBe(200);
    expect(body.metadata.annotations).toEqual({ x: "y" });
  });

  it("of JSON reach annotations whose names contain slashes", async () => {
    const made = await create(apps("deployments"), deployment("slashes"));
    const { status, body } = await patch(`${apps("deployments")}/slashes`, json, [
      { op: "test", path: "/metadata/uid", value: made.metadata.uid },
      { op: "add", path: "/spec/template/metadata/annotations", value: { "wave.pusher.com/config-hash": "v2:0" } },
      { op: "replace", path: "/spec/template/metadata/annotations/wave.pusher.com~1config-hash", value: "v2:1" },
    ]);
    expect(status).toBe(200);
    expect(template(body).metadata).toMatchObject({ annotations: { "wave.pusher.com/config-hash": "v2:1" } });
  });

  it("of JSON that test the generation succeed after a status update and fail after a spec edit", async () => {
    const made = await create(apps("deployments"), deployment("generations"));
    const path = `${apps("deployments")}/generations`;
    const test = { op: "test", path: "/metadata/generation", value: made.metadata.generation };
    const status = { status: { observedGeneration: 1, replicas: 7 } };
    expect((await patch(`${path}/status`, merge, status)).status).toBe(200);
    const passed = await patch(path, json, [test, { op: "add", path: "/metadata/labels", value: { a: "b" } }]);
    expect(passed.status).toBe(200);
    await patch(path, merge, { spec: { template: { metadata: { labels: { more: "x" } } } } });
    expect((await patch(path, json, [test])).status).toBe(422);
  });

  it("of an unknown type are refused with 415", async () => {
    await create(configMaps(), { metadata: { name: "typed" } });
    expect((await patch(`${configMaps()}/typed`, "text/plain", {})).status).toBe(415);
  });

  it("that carry an older resourceVersion are refused with 409", async () => {
    await create(configMaps(), { metadata: { name: "versions" } });
    const body = { metadata: { resourceVersion: "1" }, data: { a: "b" } };
    expect((await patch(`${configMaps()}/versions`, merge, body)).status).toBe(409);
  });

  it("that merge replace lists and remove fields that are null", async () => {
    await create(apps("deployments"), deployment("merged"));
    const containers = [{ name: "only", image: "only:1" }];
    const change = { metadata: { annotations: { a: null, c: "d" } }, spec: { template: { spec: { containers } } } };
    const { body } = await patch(`${apps("deployments")}/merged`, merge, change);
    expect(body.metadata.annotations).toMatchObject({ c: "d" });
    expect(body.metadata.annotations).not.toHaveProperty("a");
    expect(template(body).spec.containers.map(({ name }) => name)).toEqual(["only"]);
  });

  it("that merge strategically merge containers and variables by name", async () => {
    await create(apps("deployments"), deployment("strategic"));
    const containers = [{ name: "main", image: "nginx:2", env: [{ name: "B", value: "2" }] }];
    const { body } = await patch(`${apps("deployments")}/strategic`, strategic, {
      spec: { template: { spec: { containers } } },
    });
    const after = template(body).spec.containers;
    expect(after.map(({ name, image }) => [name, image])).toEqual([
      ["main", "nginx:2"],
      ["side", "proxy:1"],
    ]);
    expect(after[0]?.env?.toSorted()).toEqual(
      expect.arrayContaining([
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ]),
    );
  });

  it("that merge strategically delete items and keep the requested order", async () => {
    await create(apps("deployments"), deployment("directives"));
    const path = `${apps("deployments")}/directives`;
    const spec = (directives: object) => ({ spec: { template: { spec: directives } } });
    const { body: swapped } = await patch(
      path,
      strategic,
      spec({
        "$setElementOrder/containers": [{ name: "new" }, { name: "side" }, { name: "main" }],
        containers: [{ name: "new", image: "new:1" }],
      }),
    );
    expect(template(swapped).spec.containers.map(({ name }) => name)).toEqual(["new", "side", "main"]);
    const { body: cut } = await patch(path, strategic, spec({ containers: [{ name: "side", $patch: "delete" }] }));
    expect(template(cut).spec.containers.map(({ name }) => name)).toEqual(["new", "main"]);
    const { body: emptied } = await patch(
      path,
      strategic,
      spec({ volumes: [{ name: "config", configMap: null, emptyDir: {}, $retainKeys: ["name", "emptyDir"] }] }),
    );
    expect(template(emptied).spec).toMatchObject({ volumes: [{ name: "config", emptyDir: {} }] });
    const strategy = { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } };
    expect((await patch(path, strategic, strategy)).body.spec).toMatchObject({ strategy: { type: "Recreate" } });
  });

  it("raise a Deployment's generation with annotations, a StatefulSet's and DaemonSet's only with the spec", async () => {
    const body = deployment("raised") as { spec: { replicas?: number; template: object } };
    await create(apps("deployments"), body);
    await create(apps("statefulsets"), { ...body, spec: { ...body.spec, serviceName: "raised" } });
    const { replicas: _, ...spec } = body.spec;
    await create(apps("daemonsets"), { ...body, spec: { ...spec, template: body.spec.template } });
    const generations = async (change: object): Promise<(number | undefined)[]> => {
      const raised: (number | undefined)[] = [];
      for (const plural of ["deployments", "statefulsets", "daemonsets"]) {
        const path = `${apps(plural)}/raised`;
        const before = (await target().api.call("GET", path)).body.metadata.generation ?? 0;
        const after = (await patch(path, merge, change)).body.metadata.generation ?? 0;
        raised.push(after - before);
      }
      return raised;
    };
    expect(await generations({ metadata: { annotations: { more: "x" } } })).toEqual([1, 0, 0]);
    expect(await generations({ metadata: { labels: { more: "x" } } })).toEqual([0, 0, 0]);
    expect(await generations({ spec: { template: { metadata: { annotations: { more: "x" } } } } })).toEqual([1, 1, 1]);
    expect(await generations({ spec: { template: { metadata: { annotations: { more: "x" } } } } })).toEqual([0, 0, 0]);
  });

  it("of a Deployment's status may change annotations, and do not raise the generation", async () => {
    const made = await create(apps("deployments"), deployment("status-annotations"));
    const path = `${apps("deployments")}/status-annotations`;
    await patch(`${path}/status`, merge, { metadata: { annotations: { more: "x" } } });
    // A controller may have added annotations of its own.
    const { metadata } = (await target().api.call("GET", path)).body;
    expect(metadata.annotations).toMatchObject({ ...made.metadata.annotations, more: "x" });
    expect(metadata.generation).toBe(made.metadata.generation);
  });
});
