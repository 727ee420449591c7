import { beforeEach, describe, expect, it } from "vitest";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { noOwners } from "../../domain/owner-references/owner-references.ts";
import { configKey } from "../../domain/references/references.ts";
import { OwnerIndex } from "./owner-index.ts";

const keyOf = (name: string, namespace = "default") => configKey({ kind: "ConfigMap", namespace, name });
const deployment = (name: string, uid = `uid-${name}`) => ({ apiVersion: "apps/v1", kind: "Deployment", name, uid });

describe("the owner of an object", () => {
  let changed: string[];
  let index: OwnerIndex;
  const see = (name: string, ownerReferences: readonly ReturnType<typeof deployment>[], namespace = "default") =>
    index.update("ConfigMap", {
      metadata: { name, namespace, uid: name, resourceVersion: "1", ownerReferences: [...ownerReferences] },
    });
  beforeEach(() => {
    changed = [];
    index = new OwnerIndex(
      () => builtInKinds,
      (key) => changed.push(key),
    );
  });

  it("is known, and a change is reported", () => {
    for (const owners of [[deployment("web")], [deployment("web")], []]) see("a", owners);
    expect(changed).toEqual([keyOf("a"), keyOf("a")]);
    expect(index.of(keyOf("a"))).toBe(noOwners);
    expect([...index.keys()]).toEqual([]);
  });

  it("ignores owners that are not relevant: a uid may have one MiB", () => {
    see("a", [deployment("web", "x".repeat(65))]);
    expect(index.of(keyOf("a"))).toBe(noOwners);
  });

  it("is not kept beyond the limit of a namespace, which has room again when objects are deleted", () => {
    const many = (name: string) =>
      Array.from({ length: 200 }, (_, nth) => deployment(`${name}-${nth}-`.padEnd(200, "x"), `${nth}`));
    const names = Array.from({ length: 400 }, (_, nth) => `cm-${nth}`);
    for (const name of names) see(name, many(name));
    const left = () => names.filter((name) => index.of(keyOf(name)) === undefined);
    expect(left().length).toBeGreaterThan(100);
    expect([...index.keys()]).toHaveLength(names.length);
    see("a", [deployment("web")], "quiet");
    expect(index.of(keyOf("a", "quiet"))?.workloads).toHaveLength(1);

    const last = left().at(-1) ?? "";
    for (const name of names.slice(0, 10)) index.forget(keyOf(name));
    see(last, many(last));
    expect(index.of(keyOf(last))?.workloads).toHaveLength(200);
    for (const name of names) index.forget(keyOf(name));
    for (const name of names) see(name, [deployment("web")]);
    expect(left()).toEqual([]);
  });
});
