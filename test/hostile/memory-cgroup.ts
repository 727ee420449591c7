import { existsSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";

/** A cgroup that limits the memory of a process, as kubelet limits a container. */
export interface MemoryCgroup {
  readonly path: string;
  /** Returns how much memory was used at most, including cached pages of files, in bytes. */
  readonly peak: () => Promise<number>;
  readonly remove: () => Promise<void>;
}

/** The files of both versions of cgroups (https://docs.kernel.org/admin-guide/cgroup-v2.html#memory). */
const versions = [
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes" },
  { root: "/sys/fs/cgroup", limit: "memory.max", peak: "memory.peak" },
];

/** Makes a cgroup with a limit in bytes. Returns undefined if this machine does not let us. */
export async function makeMemoryCgroup(name: string, limit: number): Promise<MemoryCgroup | undefined> {
  for (const files of versions) {
    const path = `${files.root}/${name}`;
    if (!existsSync(files.root)) continue;
    try {
      await mkdir(path, { recursive: true });
      await writeFile(`${path}/${files.limit}`, `${limit}`);
    } catch {
      await rmdir(path).catch(() => undefined);
      continue;
    }
    return {
      path,
      peak: async () => Number(await readFile(`${path}/${files.peak}`, "utf8")),
      remove: () => rmdir(path),
    };
  }
  return undefined;
}
