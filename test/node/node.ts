import { execFile, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { controlPlaneFolder, startControlPlane, startUp } from "../control-plane/control-plane.ts";

const run = promisify(execFile);
const here = import.meta.dirname;

/** A control plane with a real node, whose Pods really run. */
export interface RealNode {
  readonly cluster: Cluster;
  /** The folder with everything of the node; see `up`. */
  readonly folder: string;
  /** Runs a program in the namespaces of the node, as root, and returns its output. */
  readonly inside: (program: string, ...args: readonly string[]) => Promise<string>;
  /** Kills the kubelet of the node. The kubelet is then started again. */
  readonly killKubelet: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const assets = process.env.NODE_ASSETS ?? "/usr/local/kubernetes-node";

/** The image with the programs of docs/safe-changes.md, as a file that test/node/install makes. */
export const programsImage = join(assets, "programs.tar");

/** Undefined if a node can run and is installed; otherwise one line with what is missing. */
export function missingNode(): string | undefined {
  const { status, stdout } = spawnSync(join(here, "up"), ["--impossible"], { encoding: "utf8" });
  if (status === 0) return stdout.trim();
  const missing = [join(assets, "installed"), programsImage, join(controlPlaneFolder(), "kubelet")].find(
    (path) => !existsSync(path),
  );
  return (
    missing && `${missing} is missing; test/control-plane/install and test/node/install make it (once, some minutes)`
  );
}

/** Options of a build; see `image`. */
export interface ImageOptions {
  readonly arch?: "amd64" | "arm64";
  /** Whether to build without the cache of earlier builds. Default false. */
  readonly fresh?: boolean;
}

/** Builds Wave's image from these sources with its Dockerfile, as a file, and returns its digest. */
export async function makeImage(file: string, { arch = "amd64", fresh = false }: ImageOptions = {}): Promise<string> {
  const env = { ...process.env, ...(fresh ? { FRESH: "yes" } : {}) };
  return (await run(join(here, "image"), [file, arch], { env })).stdout.trim();
}

/** Starts a control plane and a node with these images besides those that `install` made, about 10 s. */
export async function startNode(...images: readonly string[]): Promise<RealNode> {
  const plane = await startControlPlane({ workloads: "no-nodes" });
  const folder = join(dirname(plane.kubeconfig), "node");
  let stopNode = async () => {};
  try {
    stopNode = await startUp(join(here, "up"), [dirname(plane.kubeconfig), ...images]);
  } catch (error) {
    await plane.stop();
    throw error;
  }
  const cluster = connect(plane);
  const text = (name: string) => readFileSync(join(folder, name), "utf8").trim();
  const inside: RealNode["inside"] = async (program, ...args) => {
    const namespaces = ["--target", text("pid"), "--mount", "--net", "--pid"];
    return (await run("nsenter", [...namespaces, program, ...args])).stdout;
  };
  return {
    cluster,
    folder,
    inside,
    killKubelet: async () => {
      await inside("kill", "-KILL", text("kubelet.pid"));
    },
    stop: async () => {
      cluster.close();
      await stopNode();
      await plane.stop();
    },
  };
}
