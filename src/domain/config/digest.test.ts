import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { digestOf, hasSameContent, isSharedWith, keysOf, sameConfig, toConfig } from "./digest.ts";

function sha256(value: string | Buffer): string {
  return createHash("sha256").update(value).digest("binary");
}

const metadata = { namespace: "shop", name: "db" };

describe("hasSameContent", () => {
  it("sees a key that moves from data to binaryData, which environment variables no longer read", () => {
    const before = toConfig("ConfigMap", { metadata, data: { a: "text" } });
    const after = toConfig("ConfigMap", { metadata, binaryData: { a: Buffer.from("text").toString("base64") } });
    expect(hasSameContent(before, after)).toBe(false);
    expect(hasSameContent(before, { ...before, changedAt: 5 })).toBe(true);
  });
});

describe("toConfig", () => {
  it("takes a ConfigMap for a pinned copy only if it is immutable, because anyone may write the label", () => {
    const labelled = { ...metadata, labels: { "wave.pusher.com/pinned-copy": "true" } };
    expect(toConfig("ConfigMap", { metadata: labelled, data: {}, immutable: true }).isCopy).toBe(true);
    expect(toConfig("ConfigMap", { metadata: labelled, data: {} }).isCopy).toBeUndefined();
  });

  it("hashes what a container reads: text of data, decoded bytes of binaryData and of Secrets", () => {
    const bytes = Buffer.from([0, 255, 128]);
    const map = toConfig("ConfigMap", { metadata, data: { text: "ü" }, binaryData: { raw: bytes.toString("base64") } });
    const secret = toConfig("Secret", { metadata, data: { raw: bytes.toString("base64") } });
    expect(digestOf(map, "text")).toBe(sha256("ü"));
    expect(digestOf(map, "raw")).toBe(sha256(bytes));
    expect(digestOf(secret, "raw")).toBe(sha256(bytes));
    expect(digestOf(secret, "other")).toBeUndefined();
  });

  it("finds the digest of each of many keys", () => {
    const data = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key-${50 - i}`, `value ${i}`]));
    const config = toConfig("ConfigMap", { metadata, data });
    for (const [key, value] of Object.entries(data)) expect(digestOf(config, key)).toBe(sha256(value));
  });

  it("gives environment variables only the keys of data", () => {
    const config = toConfig("ConfigMap", { metadata, data: { b: "1", a: "2" }, binaryData: { A: "", z: "" } });
    expect(keysOf(config)).toEqual(["a", "b", "A", "z"]);
    expect(keysOf(config, "data")).toEqual(["a", "b"]);
    expect(digestOf(config, "z", "data")).toBeUndefined();
    expect(digestOf(config, "a", "data")).toBe(sha256("2"));
  });

  it("reads an object without data as an object without keys", () => {
    expect(keysOf(toConfig("Secret", { metadata }))).toEqual([]);
    expect(keysOf(toConfig("ConfigMap", JSON.parse(`{"metadata":{"namespace":"a","name":"b"},"data":null}`)))).toEqual(
      [],
    );
  });

  it("returns the last write of any client, without owner references of Wave, or otherwise the creation", () => {
    const creationTimestamp = "2026-01-01T00:00:01Z";
    const entry = (manager: string, time: string) => ({ manager, time });
    const managedFields = [
      entry("a", "2026-01-01T00:00:03Z"),
      entry("b", "2026-01-01T00:00:02Z"),
      entry("c", "no time"),
      entry("wave-owner-references", "2026-01-01T00:00:04Z"),
    ];
    const at = (more: object) => toConfig("Secret", { metadata: { ...metadata, ...more } }).changedAt;
    expect(at({ creationTimestamp, managedFields })).toBe(Date.UTC(2026, 0, 1, 0, 0, 3) / 1000);
    expect(at({ creationTimestamp })).toBe(Date.UTC(2026, 0, 1, 0, 0, 1) / 1000);
    expect(at({})).toBeUndefined();
  });

  it("keeps the directive, even with too many keys", () => {
    const annotations = { "wave.pusher.com/hold": "true" };
    const data = Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [`key-${i}`, ""]));
    expect(toConfig("ConfigMap", { metadata: { ...metadata, annotations } }).directive).toBe("hold");
    const large = toConfig("ConfigMap", { metadata: { ...metadata, annotations }, data });
    expect(large).toMatchObject({ keys: [""], directive: "hold", limitExceeded: { limit: "keysOfObject" } });
  });

  it("keeps no value", () => {
    const config = toConfig("Secret", {
      metadata,
      data: { password: Buffer.from("hunter2hunter2").toString("base64") },
    });
    expect(JSON.stringify(config)).not.toContain("hunter2");
    expect(JSON.stringify(config)).not.toContain(Buffer.from("hunter2").toString("base64").slice(0, 8));
  });

  it.each([
    [`{"metadata":{"namespace":"shop","name":"db"},"data":{"password":["hunter2"]}}`, /"shop\/db".*"password"/],
    [`{"metadata":{"namespace":"shop","name":"db"},"data":"hunter2"}`, /"shop\/db".*data is not a map/],
    [`{"metadata":{"namespace":"shop","name":"db"},"data":["hunter2"]}`, /"shop\/db".*data is not a map/],
    [`{"metadata":{"namespace":"shop"},"data":{}}`, /without name/],
  ])("rejects a malformed object by name and without a value: %s", (json, message) => {
    const parse = () => toConfig("Secret", JSON.parse(json));
    expect(parse).toThrow(message);
    expect(parse).not.toThrow("hunter2");
  });
});

describe("sameConfig", () => {
  const object = { metadata, data: { a: "1", b: "2" } };
  const config = toConfig("ConfigMap", object);

  it("ignores labels, annotations, resource versions, times and the order of keys", () => {
    const managedFields = [{ manager: "kubectl", time: "2026-01-01T00:00:01Z" }];
    const labelled = {
      metadata: { ...metadata, resourceVersion: "7", labels: { a: "b" }, annotations: { c: "d" }, managedFields },
      data: { b: "2", a: "1" },
    };
    expect(sameConfig(config, toConfig("ConfigMap", labelled))).toBe(true);
  });

  it.each([
    ["a value", { metadata, data: { a: "1", b: "3" } }],
    ["a key", { metadata, data: { a: "1", c: "2" } }],
    ["a key more", { metadata, data: { a: "1", b: "2", c: "" } }],
    ["the part a key is in", { metadata, data: { a: "1" }, binaryData: { b: "Mg==" } }],
    ["a grant", { ...object, metadata: { ...metadata, annotations: { "wave.pusher.com/shared-with": "" } } }],
    ["the directive", { ...object, metadata: { ...metadata, annotations: { "wave.pusher.com/ignore": "true" } } }],
    ["the name", { ...object, metadata: { ...metadata, name: "other" } }],
  ])("detects a difference in %s", (_, other) => {
    expect(sameConfig(config, toConfig("ConfigMap", other))).toBe(false);
  });
});

describe("isSharedWith", () => {
  function shared(annotation?: string) {
    const annotations: Record<string, string> =
      annotation === undefined ? {} : { "wave.pusher.com/shared-with": annotation };
    return toConfig("Secret", { metadata: { ...metadata, annotations } });
  }

  it.each([
    ["a, b", true],
    ["b", true],
    ["*", true],
    ["a,*", true],
    ["a", false],
    ["bb", false],
    ["", false],
    [undefined, false],
  ])("reads %j as: shared with namespace b is %s", (annotation, expected) => {
    expect(isSharedWith(shared(annotation), "b")).toBe(expected);
  });
});
