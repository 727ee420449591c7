import { describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { type TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import { leadingCluster, plainPolicy } from "../../../test/support/leading-cluster.ts";
import { parsePins } from "../../domain/pinning/pinned-lookup.ts";

const hashAnnotation = "wave.pusher.com/config-hash";
const pinnedAnnotation = "wave.pusher.com/pinned";
const rejectedAnnotation = "wave.pusher.com/rejected-configmaps";

/** Shows copies to the caches. */
async function showCopies(cluster: TestCluster, ...copies: readonly (Stored | undefined)[]): Promise<void> {
  for (const copy of copies) if (copy !== undefined) await cluster.show("ConfigMap", copy.metadata.name);
}

const containers = [
  {
    name: "main",
    image: "nginx",
    env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "a" } } }],
    envFrom: [{ configMapRef: { name: "maybe", optional: true } }],
  },
];

/** A change of the pod template: it also reads key `b`. */
const requiresMore = {
  template: {
    spec: {
      containers: containers.map((each) => ({
        ...each,
        env: [...each.env, { name: "B", valueFrom: { configMapKeyRef: { name: "page", key: "b" } } }],
      })),
    },
  },
};

interface Stored {
  readonly metadata: { readonly name: string; readonly labels?: object; readonly ownerReferences?: readonly object[] };
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/** A controller with `pinConfig` that leads, and a Deployment `web` that is pinned and reads key `a` of ConfigMap `page`. */
async function scene(annotations: Readonly<Record<string, string>> = { "wave.pusher.com/pin-config": "true" }) {
  let faults: Sandbox["faults"] | undefined;
  const start: typeof startSandbox = async (options) => {
    const sandbox = await startSandbox(options);
    faults = sandbox.faults;
    return sandbox;
  };
  const cluster = await leadingCluster(start, { ...plainPolicy, pinConfig: true }, async (cluster) => {
    await cluster.create("ConfigMap", {
      metadata: { name: "page", labels: { app: "shop" } },
      data: { a: "1", b: "1" },
    });
    const { metadata, ...web } = workload("web", { containers });
    await cluster.create("Deployment", {
      ...web,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    });
  });
  const template = async () => {
    const { spec } = (await cluster.get("Deployment", "web")) as unknown as {
      spec: { template: { metadata?: { annotations?: Readonly<Record<string, string>> } } };
    };
    return spec.template.metadata?.annotations ?? {};
  };
  const pins = async () => {
    const text = (await template())[pinnedAnnotation];
    return text === undefined ? undefined : Object.fromEntries(parsePins(text) ?? []);
  };
  const copy = async (source: string) => {
    const name = (await pins())?.[source];
    return name === undefined ? undefined : ((await cluster.get("ConfigMap", name)) as unknown as Stored);
  };
  const edit = async (data: Readonly<Record<string, string | null>>) => {
    await cluster.edit("ConfigMap", "page", { data });
    await cluster.show("ConfigMap", "page");
  };
  await eventually(async () => expect(await template()).toHaveProperty([hashAnnotation]));
  await cluster.show("Deployment", "web");
  const refuseCopies = () =>
    faults?.add({
      match: ({ method, path }) => method === "POST" && path.endsWith("/configmaps"),
      action: { type: "status", status: 403 },
    });
  return { cluster, template, pins, copy, edit, refuseCopies };
}

describe("a pinned Deployment", () => {
  it("names immutable copies of exactly what its Pods read, stored before its hash", async () => {
    const { pins, copy } = await scene();
    expect(Object.keys((await pins()) ?? {})).toEqual(["maybe", "page"]);
    expect(await copy("page")).toMatchObject({
      metadata: {
        labels: { "wave.pusher.com/pinned-copy": "true" },
        annotations: { "wave.pusher.com/copy-of": "page" },
        ownerReferences: [{ kind: "Deployment", name: "web" }],
      },
      immutable: true,
      data: { a: "1" },
    });
    expect(await copy("maybe")).not.toHaveProperty("data");
  });

  it("gets another copy with its rollout, and the first copy again with the first content", async () => {
    const { pins, copy, edit, cluster } = await scene();
    const before = await pins();
    await edit({ a: "2" });
    await eventually(async () => expect(await copy("page")).toMatchObject({ data: { a: "2" } }));
    await cluster.show("Deployment", "web");
    await edit({ a: "1" });
    await eventually(async () => expect(await pins()).toEqual(before));
  });

  it("keeps its copies while it is held", async () => {
    const { pins, edit, cluster } = await scene();
    const before = await pins();
    await cluster.edit("Deployment", "web", { metadata: { annotations: { "wave.pusher.com/hold": "true" } } });
    await cluster.show("Deployment", "web");
    await edit({ a: "2" });
    await eventually(() => expect(cluster.metrics.render()).toContain('wave_held_workloads{reason="hold"} 1'));
    expect(await pins()).toEqual(before);
  });

  describe("whose new template requires a key that its copy lacks", () => {
    it.for([
      { "wave.pusher.com/hold": "true" },
      { "wave.pusher.com/mode": "approve" },
      { "wave.pusher.com/mode": "observe" },
    ])("keeps the copy with %j, with a Warning that new Pods cannot start", async (annotations) => {
      const { pins, copy, cluster } = await scene();
      const before = await pins();
      await showCopies(cluster, await copy("page"), await copy("maybe"));
      await cluster.edit("Deployment", "web", { metadata: { annotations }, spec: requiresMore });
      await cluster.show("Deployment", "web");
      await eventually(() =>
        expect(cluster.events).toContainEqual(
          expect.objectContaining({
            type: "Warning",
            reason: "PinsKept",
            message: expect.stringContaining('cannot start: the pinned content of ConfigMap "page"'),
          }),
        ),
      );
      expect(await pins()).toEqual(before);
    });

    it("reads the live content without a hold", async () => {
      const { copy, cluster } = await scene();
      await showCopies(cluster, await copy("page"), await copy("maybe"));
      await cluster.edit("Deployment", "web", { spec: requiresMore });
      await cluster.show("Deployment", "web");
      await eventually(async () => expect(await copy("page")).toMatchObject({ data: { b: "1" } }));
      expect(cluster.events).not.toContainEqual(expect.objectContaining({ reason: "PinsKept" }));
    });
  });

  it("is rolled unpinned, with a Warning, if a copy cannot be stored", async () => {
    const { pins, template, edit, cluster, refuseCopies } = await scene();
    const { [hashAnnotation]: hash } = await template();
    refuseCopies();
    await edit({ a: "2" });
    await eventually(async () => expect((await template())[hashAnnotation]).not.toBe(hash));
    expect(await pins()).toBeUndefined();
    await eventually(() =>
      expect(cluster.events).toContainEqual(expect.objectContaining({ type: "Warning", reason: "Unpinned" })),
    );
  });

  it("uses the longer name if another object has the short one", async () => {
    const { pins, copy, edit, cluster } = await scene();
    const first = (await pins())?.page ?? "";
    await edit({ a: "2" });
    await eventually(async () => expect(await copy("page")).toMatchObject({ data: { a: "2" } }));
    await cluster.show("Deployment", "web");
    await cluster.remove("ConfigMap", first);
    await cluster.create("ConfigMap", { metadata: { name: first }, data: { a: "of a squatter" } });
    await edit({ a: "1" });
    await eventually(async () => expect(await copy("page")).toMatchObject({ immutable: true, data: { a: "1" } }));
    expect((await pins())?.page).toMatch(/^page-[0-9a-f]{20}$/);
  });
});

it("is not pinned without its annotation", async () => {
  const { pins } = await scene({});
  expect(await pins()).toBeUndefined();
});

describe("an undo without webhooks", () => {
  /** Returns a scene whose Deployment was rolled to content 2, and then undone to content 1, which the caches do not show yet. */
  async function undoing() {
    const all = await scene();
    const { cluster, template, copy, edit } = all;
    const first = await template();
    await showCopies(cluster, await copy("page"), await copy("maybe"));
    await edit({ a: "2" });
    await eventually(async () => expect(await copy("page")).toMatchObject({ data: { a: "2" } }));
    await cluster.show("Deployment", "web");
    await showCopies(cluster, await copy("page"));
    await cluster.edit("Deployment", "web", { spec: { template: { metadata: { annotations: first } } } });
    const rejected = async () => (await cluster.get("Deployment", "web"))?.metadata.annotations?.[rejectedAnnotation];
    return { ...all, first, rejected };
  }

  async function undone() {
    const all = await undoing();
    const { cluster, rejected } = all;
    await cluster.show("Deployment", "web");
    await eventually(async () => expect(await rejected()).toMatch(/^page=[0-9a-f]{16}$/));
    await cluster.show("Deployment", "web");
    await eventually(() => expect(cluster.events.map(({ reason }) => reason)).toContain("RolledBack"));
    return all;
  }

  it("is not rolled forward again, until the rejected content changes", async () => {
    const { template, copy, edit, first, rejected } = await undone();
    expect(await template()).toEqual(first);
    await edit({ a: "3" });
    await eventually(async () => expect(await copy("page")).toMatchObject({ data: { a: "3" } }));
    expect(await rejected()).toBeUndefined();
  });

  it("is recognized also if a write for another change meets it", async () => {
    const { cluster, copy, rejected } = await undoing();
    await cluster.create("ConfigMap", { metadata: { name: "maybe" }, data: { b: "1" } });
    await cluster.show("ConfigMap", "maybe");
    await eventually(async () => {
      await cluster.clock.advance(1_000);
      expect(await copy("maybe")).toMatchObject({ data: { b: "1" } });
    });
    expect(await copy("page")).toMatchObject({ data: { a: "1" } });
    expect(await rejected()).toMatch(/^page=[0-9a-f]{16}$/);
  });

  it("ends if a new template requires a key that the copy lacks", async () => {
    const { cluster, copy } = await undone();
    await cluster.edit("Deployment", "web", { spec: requiresMore });
    await cluster.show("Deployment", "web");
    await eventually(async () => expect(await copy("page")).toMatchObject({ data: { b: "1" } }));
  });
});
