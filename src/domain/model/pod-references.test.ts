import { describe, expect, it } from "vitest";
import type { VolumeMount } from "#kubernetes";
import { readVolume, type VolumeSource, visiblePathsOf } from "./pod-references.ts";

/** A mount of the volume; a text is its subPath. */
function mountOf(mount: string | Partial<VolumeMount>): VolumeMount {
  return { name: "v", mountPath: "/m", ...(typeof mount === "string" ? { subPath: mount } : mount) };
}

function read(source: VolumeSource, ...mounts: (string | Partial<VolumeMount>)[]): string[] {
  return readVolume(source, visiblePathsOf(mounts.map(mountOf))).map(
    ({ reads, keys, optional }) =>
      `${reads} ${keys === "all" ? "all" : `[${keys.join()}]`}${optional ? " optional" : ""}`,
  );
}

const items = [
  { key: "a", path: "a.conf" },
  { key: "b", path: "dir/b.conf" },
  { key: "c", path: "dir/c.conf" },
];

describe("readVolume without items", () => {
  it.each<[string, (string | Partial<VolumeMount>)[]]>([
    ["no mount", []],
    ["a mount of the whole", [{}]],
    ["an empty subPath", [""]],
    ["a subPath that is the whole", ["./"]],
    ["one mount of the whole beside a narrow one", ["a", {}]],
    ["a subPathExpr", [{ subPathExpr: "$(NAME)" }]],
    ["a subPath through the kubelet's own folder", ["..data/a"]],
  ])("shows all with %s", (_, mounts) => {
    expect(read({}, ...mounts)).toEqual(["files all"]);
    expect(read({ optional: true }, ...mounts)).toEqual(["files all optional"]);
  });

  it("shows only the keys that mounts name. The object must exist, the keys need not", () => {
    expect(read({}, "a", "./b/")).toEqual(["existence []", "files [a,b] optional"]);
    expect(read({ optional: true }, "a")).toEqual(["files [a] optional"]);
  });
});

describe("readVolume with items", () => {
  it("shows the keys of the items", () => {
    expect(read({ items }, {})).toEqual(["files [a,b,c]"]);
    expect(read({ items, optional: true }, {})).toEqual(["files [a,b,c] optional"]);
  });

  it("shows only the items that a mount names, but needs the keys of all items", () => {
    expect(read({ items }, "a.conf")).toEqual(["files [a]", "existence [b,c]"]);
    expect(read({ items, optional: true }, "a.conf")).toEqual(["files [a] optional"]);
  });

  it("shows every item in a folder that a mount names", () => {
    expect(read({ items }, "dir")).toEqual(["files [b,c]", "existence [a]"]);
    expect(read({ items }, "dir/c.conf")).toEqual(["files [c]", "existence [a,b]"]);
  });

  it("does not treat a part of a name as a folder", () => {
    expect(read({ items, optional: true }, "di")).toEqual([]);
    expect(read({ items }, "a")).toEqual(["existence [a,b,c]"]);
  });

  it("shows all items if one mount shows the whole volume", () => {
    expect(read({ items }, "a.conf", {})).toEqual(["files [a,b,c]"]);
  });
});
