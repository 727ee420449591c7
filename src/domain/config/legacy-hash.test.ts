import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { workloadObject } from "../../../test/support/domain/objects.ts";
import { configKey } from "../references/references.ts";
import type { ConfigObject } from "./digest.ts";
import { digestOfWaveInGo } from "./legacy-hash.ts";

type Objects = Readonly<Record<string, ConfigObject>>;

/** Returns the hash for these objects, by `Kind/namespace/name`, and the requested objects. */
function digest(wanted: Parameters<typeof workloadObject>[0], objects: Objects) {
  const requested: string[] = [];
  const steps = digestOfWaveInGo(workloadObject(wanted));
  let step = steps.next();
  while (!step.done) {
    requested.push(configKey(step.value));
    step = steps.next(objects[configKey(step.value)]);
  }
  return { hash: step.value, requested };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const envFrom = (...configMaps: string[]) => ({
  containers: [{ name: "web", envFrom: configMaps.map((name) => ({ configMapRef: { name } })) }],
});

it("equals the hash of Go: encoding/json wrote the text below", () => {
  const pod = {
    containers: [
      {
        name: "web",
        envFrom: [{ configMapRef: { name: "web" } }, { configMapRef: { name: "bare" } }, { secretRef: { name: "db" } }],
      },
    ],
  };
  const { hash } = digest(
    { pod },
    {
      "ConfigMap/default/web": {
        data: { "9": "nine", "10": "ten", "a.b": "<ü>&", empty: "" },
        binaryData: { bin: Buffer.from([0, 255, 62, 63]).toString("base64") },
      },
      "ConfigMap/default/bare": {},
      "Secret/default/db": { data: { password: base64("s3cret"), Z: base64("z") } },
    },
  );
  expect(hash).toBe("be157624c15733dc205b84bf6045fc2d437258e72d1caed9897b9e05f64e749e");
});

it("of missing objects is the hash of two empty maps", () => {
  const { hash } = digest({ pod: envFrom("web") }, {});
  expect(hash).toBe("100444e91862dd77d7ebe29f050c1e9a7f357c771e1a7b7650aae27e6a3a031d");
});

it("includes all keys of a volume, but only the items of a projected volume", () => {
  const items = [{ key: "a", path: "a" }];
  const data = { data: { a: "1", b: "2" } };
  const volume = { volumes: [{ name: "v", configMap: { name: "web", items } }] };
  const projected = { volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "web", items } }] } }] };
  const objects = { "ConfigMap/default/web": data };
  expect(digest({ pod: volume }, objects).hash).toBe(
    sha256(`{"configMaps":{"web":{"a":"${base64("1")}","b":"${base64("2")}"}},"secrets":{}}`),
  );
  expect(digest({ pod: projected }, objects).hash).toBe(
    sha256(`{"configMaps":{"web":{"a":"${base64("1")}"}},"secrets":{}}`),
  );
});

it("includes only the key of a variable, no missing key, and no initContainer", () => {
  const from = (key: string) => ({ name: key, valueFrom: { secretKeyRef: { name: "db", key } } });
  const pod = {
    initContainers: [{ name: "first", envFrom: [{ configMapRef: { name: "unread" } }] }],
    containers: [{ name: "web", env: [from("password"), from("none")] }],
  };
  const objects = { "Secret/default/db": { data: { password: "cGFzcw==", user: "dXNlcg==" } } };
  const { hash, requested } = digest({ pod }, objects);
  expect(hash).toBe(sha256('{"configMaps":{},"secrets":{"db":{"password":"cGFzcw=="}}}'));
  expect(requested).toEqual(["Secret/default/db"]);
});

it("merges objects of one name in two namespaces, with precedence for the environment", () => {
  const annotations = { "wave.pusher.com/extra-configmaps": "other/web,extra" };
  const { hash, requested } = digest(
    { annotations, pod: envFrom("web") },
    {
      "ConfigMap/default/web": { data: { a: "own" } },
      "ConfigMap/other/web": { data: { a: "other", b: "other" } },
      "ConfigMap/default/extra": { data: {} },
    },
  );
  expect(hash).toBe(
    sha256(`{"configMaps":{"extra":{},"web":{"a":"${base64("own")}","b":"${base64("other")}"}},"secrets":{}}`),
  );
  expect(requested).toEqual(["ConfigMap/default/extra", "ConfigMap/other/web", "ConfigMap/default/web"]);
});

it("reads an object once, however often it is named", () => {
  const names = Array.from({ length: 4_000 }, () => "web");
  const keys = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`key-${index}`, "1"]));
  let read = 0;
  const ownKeys = (target: typeof keys) => {
    read++;
    return Reflect.ownKeys(target);
  };
  const data = new Proxy(keys, { ownKeys });
  const { requested } = digest({ pod: envFrom(...names) }, { "ConfigMap/default/web": { data } });
  expect([requested, read]).toEqual([["ConfigMap/default/web"], 1]);
});
