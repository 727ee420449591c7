import { describe, expect, it } from "vitest";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { toConfig } from "../../domain/config/digest.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { ConnectionError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { liveConfiguration } from "./live-configuration.ts";

const policy: Policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced };
const nothing: Lookup = () => undefined;
const sharedWith = (annotation: string): Lookup => {
  const annotations = { "wave.pusher.com/shared-with": annotation };
  return (kind, namespace, name) =>
    toConfig(kind === "Secret" ? kind : "ConfigMap", { metadata: { namespace, name, annotations } });
};

/** Answers each request with 404 when `answer` resolves, and records the paths. */
class RecordingApi extends MemoryApi {
  readonly paths: string[] = [];
  active = 0;
  most = 0;
  answer: (path: string) => Promise<void> = async () => {};

  override async request<T>(request: ApiRequest): Promise<T> {
    this.paths.push(request.path);
    this.most = Math.max(this.most, ++this.active);
    try {
      await this.answer(request.path);
      return await super.request<T>(request);
    } finally {
      this.active--;
    }
  }
}

const spec = { selector: {}, template: { spec: { containers: [] } } };
const workload = (namespace: string, extra: { secrets?: readonly string[]; configMaps?: readonly string[] }) =>
  toWorkload(kinds.Deployment, {
    metadata: {
      namespace,
      name: "web",
      annotations: {
        "wave.pusher.com/update-on-config-change": "true",
        "wave.pusher.com/extra-secrets": (extra.secrets ?? []).join(","),
        "wave.pusher.com/extra-configmaps": (extra.configMaps ?? []).join(","),
      },
    },
    spec,
  });
const many = (count: number, prefix = "") => Array.from({ length: count }, (_, index) => `${prefix}n${index}`);
const tick = () => new Promise((resolve) => setImmediate(resolve));

function scene(change: { cached?: Lookup; policy?: Policy } = {}) {
  const api = new RecordingApi();
  const clock = new FakeClock();
  const read = liveConfiguration({ client: api, policy, cached: nothing, clock, ...change });
  return { api, clock, read };
}

describe("the reads of a review", () => {
  it("skip objects of another namespace without a grant, however many are named", async () => {
    for (const cached of [nothing, sharedWith("other"), sharedWith("")]) {
      const { api, read } = scene({ cached });
      await read(workload("shop", { secrets: [...many(900, "victim/"), "mine"] }));
      expect(api.paths).toEqual(["/api/v1/namespaces/shop/secrets/mine"]);
    }
  });

  it.each([
    ["a granted object", policy, sharedWith("shop")],
    ["an object that is granted to all", policy, sharedWith("*")],
    ["every object with --cross-namespace=any", { ...policy, crossNamespace: "any" } as const, nothing],
  ])("include %s", async (_how, policy, cached) => {
    const { api, read } = scene({ policy, cached });
    await read(workload("shop", { configMaps: ["other/page"] }));
    expect(api.paths).toEqual(["/api/v1/namespaces/other/configmaps/page"]);
  });

  it("read no other object for a name with a blank, which the API server has not rejected yet", async () => {
    const { api, read } = scene();
    const containers = [{ name: "web", envFrom: [{ configMapRef: { name: "a b" } }] }];
    const metadata = {
      namespace: "one",
      name: "web",
      annotations: { "wave.pusher.com/update-on-config-change": "true" },
    };
    await read(toWorkload(kinds.Deployment, { metadata, spec: { selector: {}, template: { spec: { containers } } } }));
    expect(api.paths).toEqual([]);
  });

  it("are at most 64 objects, each once, and none for a larger workload", async () => {
    const fits = scene();
    await fits.read(workload("shop", { secrets: many(32), configMaps: many(32) }));
    expect(fits.api.paths).toHaveLength(64);
    const exceeds = scene();
    await expect(exceeds.read(workload("shop", { secrets: many(33), configMaps: many(32) }))).rejects.toThrow(
      "the workload references 65 objects, and the webhook reads at most 64",
    );
    expect(exceeds.api.paths).toEqual([]);
  });

  it("run 32 at a time, round-robin by namespace", async () => {
    const { api, read } = scene();
    const ends: (() => void)[] = [];
    api.answer = () => new Promise((resolve) => ends.push(resolve));
    const greedy = [1, 2, 3].map((part) => read(workload("greedy", { secrets: many(64, `p${part}-`) })));
    const victim = read(workload("victim", { secrets: ["mine"] }));
    await tick();
    expect(api.paths).toHaveLength(32);
    ends.shift()?.();
    ends.shift()?.();
    await tick();
    expect(api.paths.slice(32)).toContain("/api/v1/namespaces/victim/secrets/mine");
    while (ends.length > 0) {
      ends.shift()?.();
      await tick();
    }
    await Promise.all([...greedy, victim]);
    expect(api.most).toBe(32);
    expect(api.paths).toHaveLength(3 * 64 + 1);
  });

  it("end after three seconds, well within the timeout of the API server", async () => {
    const { api, clock, read } = scene();
    api.answer = () => new Promise(() => {});
    const reading = expect(read(workload("shop", { secrets: ["mine"] }))).rejects.toThrow(
      "the ConfigMaps and Secrets could not be read in time",
    );
    await clock.advance(3000);
    await reading;
  });

  it("do not start after their review has ended, however many wait", async () => {
    const { api, clock, read } = scene();
    const ends: (() => void)[] = [];
    api.answer = () => new Promise((resolve) => ends.push(resolve));
    const parts = [1, 2, 3].map((part) => read(workload("greedy", { secrets: many(64, `p${part}-`) })));
    const givenUp = Promise.all(
      parts.map((part) => expect(part).rejects.toThrow("the ConfigMaps and Secrets could not be read in time")),
    );
    await clock.advance(3000);
    await givenUp;
    for (const end of ends.splice(0)) end();
    await tick();
    expect(api.paths).toHaveLength(32);
    api.answer = async () => {};
    await read(workload("greedy", { secrets: ["mine"] }));
    expect(api.paths.slice(32)).toEqual(["/api/v1/namespaces/greedy/secrets/mine"]);
  });

  it("fail without the text of the API server, which is in the cause", async () => {
    const { api, read } = scene();
    const cause = new ConnectionError("get secrets/mine in shop: connect ECONNREFUSED 10.0.0.1:6443");
    api.answer = () => Promise.reject(cause);
    const failure = await read(workload("shop", { secrets: ["mine"] })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: "the API server did not answer Wave in time", cause });
  });
});
