import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readManifestFiles } from "./manifest-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wave-manifests-"));
  writeFileSync(join(folder, "a.yaml"), "a: 1");
});
afterEach(() => rmSync(folder, { recursive: true }));

const nothing = async function* () {};

it("reads an endless input only up to the limit", async () => {
  let read = 0;
  const endless = async function* () {
    for (;;) {
      read += 1 << 20;
      yield new Uint8Array(1 << 20);
    }
  };
  await expect(readManifestFiles(["-"], endless)).rejects.toThrow("exceed 32 MiB");
  expect(read).toBe(33 << 20);
});

it.each(["/dev/zero", "a large file of a folder"])("reads %s only up to the limit", async (name) => {
  const path = join(folder, "b.yaml");
  writeFileSync(path, "");
  truncateSync(path, 3 * 2 ** 30);
  await expect(readManifestFiles([name === "/dev/zero" ? name : folder], nothing)).rejects.toThrow("exceed 32 MiB");
});

it("leaves out pipes of a folder, which might block forever", async () => {
  execFileSync("mkfifo", [join(folder, "b.yaml")]);
  expect(await readManifestFiles([folder], nothing)).toEqual([{ name: join(folder, "a.yaml"), text: "a: 1" }]);
});
