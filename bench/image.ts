import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGzip } from "node:zlib";
import { missingControlPlane } from "../test/control-plane/control-plane.ts";
import { helmWave, leader, makeSystem, podsOf, system } from "../test/node/installed.ts";
import { makeImage, missingNode, type RealNode, startNode } from "../test/node/node.ts";
import { unpack } from "../test/node/unpacked.ts";
import { table } from "./report.ts";

const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);

/** The image's size for each platform, and the memory of its containers on a real node, half a minute after one leads. */
export async function reportImage(say: (line: string) => void): Promise<readonly string[]> {
  const missing = missingControlPlane() ?? missingNode();
  if (missing !== undefined) throw new Error(`no real node: ${missing}`);
  const folder = await mkdtemp(join(tmpdir(), "wave-image-"));
  try {
    const sizes: (readonly string[])[] = [];
    for (const arch of ["amd64", "arm64"] as const) {
      const file = join(folder, `${arch}.tar`);
      await makeImage(file, { arch });
      const { size, ownSize, remove } = await unpack(file);
      await remove();
      sizes.push([`image for ${arch}`, mib(size), mib(ownSize), mib(await gzipped(file))]);
      say(sizes.at(-1)?.join(" ") ?? "");
    }
    const node = await startNode(join(folder, "amd64.tar"));
    const memory = await measureContainers(node).finally(() => node.stop());
    return [
      ...table(["", "all layers, MiB", "Wave's own layers, MiB", "all layers gzipped, MiB"], sizes),
      "",
      ...table(
        ["container", "working set, MiB", "anonymous, MiB", "peak with cached pages of files, MiB"],
        memory.map(({ who, workingSet, rss, peak }) => [who, mib(workingSet), mib(rss), mib(peak)]),
      ),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function gzipped(file: string): Promise<number> {
  let bytes = 0;
  for await (const chunk of createReadStream(file).pipe(createGzip())) bytes += (chunk as Buffer).length;
  return bytes;
}

/** Who unpacked the image was charged for the pages of its files; this way the first container is that reads them. */
async function forgetPagesOfNode({ cluster, inside }: Pick<RealNode, "cluster" | "inside">): Promise<void> {
  const snapshots = join(dirname(cluster.kubeconfig), "node/containerd");
  const drop = ["dd", "if={}", "iflag=nocache", "count=0", "status=none"];
  await inside("sync");
  await inside("find", snapshots, "-path", "*/nodejs/bin/node", "-exec", ...drop, ";");
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly containers: readonly {
      readonly memory: { readonly workingSetBytes: number; readonly rssBytes: number };
    }[];
  }[];
}

async function measureContainers({ cluster, inside }: RealNode) {
  await forgetPagesOfNode({ cluster, inside });
  await makeSystem(cluster);
  await helmWave(cluster, "install");
  const leading = (await leader(cluster)).metadata.name;
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  const { pods } = await cluster.api<Summary>(
    "GET",
    "/api/v1/nodes/node-0/proxy/stats/summary?only_cpu_and_memory=true",
  );
  const found = [];
  for (const { metadata, status } of await podsOf(cluster, system)) {
    const id = status.containerStatuses?.[0]?.containerID.replace("containerd://", "") ?? "";
    // memory.peak of cgroup v2, and its name in v1.
    const folders = (await inside("find", "/sys/fs/cgroup", "-type", "d", "-name", id)).trim().split("\n");
    const files = folders.flatMap((folder) => ["peak", "max_usage_in_bytes"].map((name) => `${folder}/memory.${name}`));
    const read = await Promise.all(files.map((file) => inside("cat", file).catch(() => "")));
    const { memory } = pods.find(({ podRef }) => podRef.name === metadata.name)?.containers[0] ?? {};
    if (memory === undefined) throw new Error(`the kubelet knows nothing of Pod ${metadata.name}`);
    found.push({
      who: metadata.name === leading ? "leader, with webhooks" : "standby, with webhooks",
      workingSet: memory.workingSetBytes,
      rss: memory.rssBytes,
      peak: Number(read.find((text) => text !== "") ?? Number.NaN),
    });
  }
  return found.toSorted((a, b) => a.who.localeCompare(b.who));
}
