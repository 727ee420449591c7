import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseRequest } from "../../release/options.ts";
import { namedVersions } from "../../release/prepare.ts";
import { projectPackage, root } from "../../release/project.ts";
import { version } from "../../src/cli/command/command.ts";
import { repository } from "../../src/lib/project-address.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const { version: current } = projectPackage();

describe("the version of the project", () => {
  it("is the same in chart, image, docs, lockfile and command line", () => {
    const named = namedVersions();
    const files = new Set(named.map(({ file }) => file));
    for (const file of ["README.md", "docs/install.md", "deploy/chart/Chart.yaml", "deploy/image/Dockerfile"]) {
      expect(files).toContain(file);
    }
    expect(named.filter((each) => each.version !== current)).toEqual([]);
    expect(JSON.parse(read("package-lock.json"))).toMatchObject({
      version: current,
      packages: { "": { version: current } },
    });
    expect(version()).toBe(current);
  });
});

it("docs/install.md names the versions of Kubernetes and the suites of the nightly workflow", () => {
  const nightly = read(".github/workflows/nightly.yml");
  const [, oldest = "none"] = nightly.match(/kubernetes: \["([\d.]+)", ""\]/) ?? [];
  const [, pinned = "none"] = read("test/control-plane/install").match(/KUBERNETES_VERSION:-([\d.]+)\}/) ?? [];
  const suites = nightly.match(/(?<=npm test -- ).*/)?.[0].split(" ") ?? [];
  const claim = read("docs/install.md").match(/^\*\*Kubernetes:\*\*.*$/m)?.[0] ?? "";
  expect(claim).toContain(`all tests ran on ${pinned}.`);
  expect(claim).toContain(`nightly workflow repeats them on ${oldest} and ${pinned}.`);
  expect(Array.from(claim.matchAll(/`(test\/[\w-]+)`/g), ([, suite]) => suite)).toEqual(suites);
});

it("the only placeholders are names that the owner sets once, until then", () => {
  // The receiver of notifications is the reader's own.
  const allowed = ["hooks.example", ...(repository === undefined ? ["registry.example", "OWNER/wave"] : [])];
  const files = globSync(
    ["*.{md,json,yml}", ".github/**/*.yml", "{docs,contributing,examples,deploy,release,action,site,src}/**/*.*"],
    { cwd: root, exclude: ["**/node_modules", "**/dist", "**/*.test.ts"] },
  );
  const found = files.flatMap((file) =>
    Array.from(read(file).matchAll(/[\w-]+\.example\b(?!\.com)|\bowner\/wave\b/gi), ([name]) => ({ file, name })),
  );
  expect(found.filter(({ name }) => !allowed.includes(name))).toEqual([]);
});

describe("the arguments of npm run release", () => {
  it.each([
    ["--version 1.2.3", { action: "release", registry: undefined, sign: undefined }],
    ["--version 1.2.3 --registry ghcr.io/me", { action: "release", registry: "ghcr.io/me", sign: undefined }],
    ["--version 1.2.3 --registry [::1]", "is not HOST/PATH"],
    [
      "--version 1.2.3 --registry localhost:5000 --sign k",
      { action: "release", registry: "localhost:5000", sign: "k" },
    ],
    ["--prepare 1.3.0", { action: "prepare", version: "1.3.0" }],
    ["--prepare v1.3.0", "is not a version such as 1.2.3"],
    ["--prepare 1.3.0 --sign key", "--prepare takes no other flag"],
    ["--version 1.3.0", "package.json has 1.2.3"],
    ["--version 1.2.3 --sign key", "--sign needs --registry"],
    ["--version 1.2.3 --registry https://ghcr.io/me", "is not HOST/PATH"],
    ["", "--version is missing"],
  ])("%s", (line, expected) => {
    const parsed = () => parseRequest(line.split(" ").filter(Boolean), "1.2.3");
    if (typeof expected === "string") expect(parsed).toThrow(expected);
    else expect(parsed()).toEqual(expected);
  });
});

describe("what others change by itself is pinned:", () => {
  it("actions in workflows, by the digest of their commit", () => {
    const used = globSync([".github/workflows/*.yml", "action.yml"], { cwd: root }).flatMap((file) =>
      Array.from(read(file).matchAll(/uses: (.*)$/gm), ([, action]) => action),
    );
    expect(used.length).toBeGreaterThan(5);
    for (const action of used) expect(action).toMatch(/^[\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it("Go modules of the installers, which Renovate finds", () => {
    const { customManagers } = JSON.parse(read("renovate.json"));
    const pattern = new RegExp(customManagers[0].matchStrings[0]);
    const versions = globSync(["test/*/install", "release/install"], { cwd: root }).flatMap((file) =>
      Array.from(read(file).matchAll(/^[A-Z_]+=\S*\d+\.\d+\.\d+\S*.*$/gm), ([line]) => ({ file, line })),
    );
    expect(versions.length).toBeGreaterThan(8);
    // It has no versions, only commits.
    const unversioned = versions.filter(({ line }) => !line.startsWith("ARGO_CD="));
    expect(unversioned.filter(({ line }) => !pattern.test(line))).toEqual([]);
  });
});
