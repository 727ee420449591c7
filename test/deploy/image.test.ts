import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { deploy } from "./rendered.ts";

const root = join(deploy, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const dockerfile = read("deploy/image/Dockerfile");
const run = promisify(execFile);

const entrypoint: readonly string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]");
const nodeFlags = entrypoint.slice(1, -1);

/** The arguments of node before the bundle, in the last line of bin/wave. */
const flagsOfBinWave = /^exec "\$root\/bin\/node" (.*) "\$bundle" "\$@"$/m.exec(read("bin/wave"))?.[1]?.split(" ");

const byDigest = expect.stringMatching(/:[^@]+@sha256:[0-9a-f]{64}$/);

describe("the image", () => {
  it("runs Wave like bin/wave: the same flags of Node.js, the same environment", () => {
    expect(nodeFlags, "ENTRYPOINT in deploy/image/Dockerfile takes its flags from the end of bin/wave").toEqual(
      flagsOfBinWave,
    );
    const exported = Array.from(read("bin/wave").matchAll(/^export (.*)$/gm), ([, setting]) => setting);
    expect(Array.from(dockerfile.matchAll(/^ENV (.*)$/gm), ([, setting]) => setting)).toEqual(exported);
  });

  it("has Node.js at the path that `helm test` uses", () => {
    expect(read("deploy/chart/templates/tests/works.yaml")).toContain(`command: [${entrypoint[0]}, `);
  });

  it("uses base images with digests", () => {
    const from = Array.from(dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm), ([, base]) => base);
    expect(from).toEqual([byDigest, byDigest, "base"]);
  });

  it("contains everything that it lists, and everything that it needs to run", async () => {
    const folder = await mkdtemp(join(tmpdir(), "wave-image-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [built, final] = [join(folder, "built"), join(folder, "final")];
    // Only the files that are copied into the build stage. (Its folder there is flat.)
    const copied = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm), ([, paths = ""]) => paths.split(" "));
    expect(Array.from(read("deploy/image/Dockerfile.dockerignore").matchAll(/^!(.*)$/gm), ([, path]) => path)).toEqual(
      copied.flat(),
    );
    await mkdir(built);
    await mkdir(final);
    for (const path of copied.flat()) await cp(join(root, path), join(built, basename(path)), { recursive: true });
    await symlink(join(root, "node_modules"), join(built, "node_modules"));
    // Replaces the root of the base image with the few files that are read from it.
    const base = join(folder, "base");
    for (const path of ["nodejs/bin", "var/lib/dpkg/status.d"]) await mkdir(join(base, path), { recursive: true });
    await symlink(process.execPath, join(base, "nodejs/bin/node"));
    await writeFile(join(base, "nodejs/LICENSE"), "MIT, and more");
    for (const [, build = ""] of dockerfile.matchAll(/^RUN (?:--mount=\S+ )?node (.*)$/gm)) {
      await run(join(root, "bin/node"), build.replace("/base", base).split(" "), { cwd: built });
    }
    // Only the files that are copied from there into the final stage, without any package.
    const kept = Array.from(dockerfile.matchAll(/^COPY --from=build \/wave\/(\S+) (\S+)/gm));
    for (const [, path = "", to = ""] of kept) await cp(join(built, path), join(final, to), { recursive: true });
    const wave = (...args: string[]) => run(join(root, "bin/node"), [...entrypoint.slice(1), ...args], { cwd: final });
    expect((await wave("--version")).stdout).toContain(JSON.parse(read("package.json")).version);
    // Reads a kubeconfig, with the only package that Wave needs at run time.
    await expect(wave("run", "--kubeconfig=package.json")).rejects.toMatchObject({
      stderr: expect.stringContaining("current-context is not set"),
    });
  });
});
