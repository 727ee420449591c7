import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../control-plane/cluster.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { temporaryFiles } from "../support/kube/files.ts";

/** A tool that keeps a cluster as Git has it: how it applies a manifest, and by which rule it finds a difference. */
export interface Tool {
  readonly tool: string;
  /** Arguments of kubectl that write an object as the tool does. */
  readonly apply: readonly string[];
  /** The tool's own library, as test/gitops/install builds it. */
  readonly program: "argo-cd-diff" | "flux-diff";
  readonly rule: string;
}

const serverSide = (manager: string) => ["apply", "--server-side", "--force-conflicts", `--field-manager=${manager}`];
const clientSide = (manager: string) => ["apply", `--field-manager=${manager}`];
const argo = "argocd-controller";
const [kustomize, helm] = ["kustomize-controller", "helm-controller"];

/** Each tool with the command by which it applies, the program that has its rules, and which of these. */
export const tools: readonly Tool[] = [
  { tool: "Argo CD as it is", apply: clientSide(argo), program: "argo-cd-diff", rule: "client" },
  { tool: "Argo CD, ServerSideApply=true", apply: serverSide(argo), program: "argo-cd-diff", rule: "structured" },
  { tool: "Argo CD, ServerSideDiff=true", apply: clientSide(argo), program: "argo-cd-diff", rule: "server" },
  { tool: "Argo CD, both", apply: serverSide(argo), program: "argo-cd-diff", rule: "server" },
  { tool: "Flux, a Kustomization", apply: serverSide(kustomize), program: "flux-diff", rule: kustomize },
  { tool: "Flux, a HelmRelease", apply: clientSide(helm), program: "flux-diff", rule: helm },
];

/** Undefined where the tools' libraries are built, else one line that says what builds them. */
export function missingTools(): string | undefined {
  const missing = ["argo-cd-diff", "flux-diff"].filter((name) => !existsSync(join(controlPlaneFolder(), name)));
  return missing.length === 0 ? undefined : `${missing.join(", ")} missing; test/gitops/install builds it`;
}

/**
 * What a tool says of an object, by its manifest: `in sync`, or `out of sync` and what differs. A tool that compares two answers
 * takes a status that changes between them for a difference, until it looks again: so it is asked three times.
 */
export async function differs(cluster: Cluster, tool: Tool, manifest: object): Promise<string> {
  let said = await asked(cluster, tool, manifest);
  for (let more = 2; more > 0 && said !== "in sync"; more--) said = await asked(cluster, tool, manifest);
  return said;
}

async function asked({ kubeconfig }: Cluster, { program, rule }: Tool, manifest: object): Promise<string> {
  const folder = await temporaryFiles({ "manifest.json": JSON.stringify(manifest) });
  return new Promise((resolve, reject) => {
    execFile(
      join(controlPlaneFolder(), program),
      [kubeconfig, join(folder, "manifest.json"), rule],
      (error, out, text) => (error ? reject(new Error(text || error.message)) : resolve(out.trim())),
    );
  });
}
