import { execFile } from "node:child_process";
import { join } from "node:path";
import type { Cluster } from "../control-plane/cluster.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { temporaryFiles } from "../support/kube/files.ts";

/** A GitOps tool: how the tool applies a manifest, and its rule for differences. */
export interface Tool {
  readonly tool: string;
  /** Arguments of kubectl that write an object like the tool. */
  readonly apply: readonly string[];
  /** The program with the library of the tool, built by test/gitops/install. */
  readonly program: "argo-cd-diff" | "flux-diff";
  readonly rule: string;
}

const serverSide = (manager: string) => ["apply", "--server-side", "--force-conflicts", `--field-manager=${manager}`];
const clientSide = (manager: string) => ["apply", `--field-manager=${manager}`];
const argo = "argocd-controller";
const [kustomize, helm] = ["kustomize-controller", "helm-controller"];

/** Each tool with the command that applies, the program with its rules, and the rule that it uses. */
export const tools: readonly Tool[] = [
  { tool: "Argo CD as it is", apply: clientSide(argo), program: "argo-cd-diff", rule: "client" },
  { tool: "Argo CD, ServerSideApply=true", apply: serverSide(argo), program: "argo-cd-diff", rule: "structured" },
  { tool: "Argo CD, ServerSideDiff=true", apply: clientSide(argo), program: "argo-cd-diff", rule: "server" },
  { tool: "Argo CD, both", apply: serverSide(argo), program: "argo-cd-diff", rule: "server" },
  { tool: "Flux, a Kustomization", apply: serverSide(kustomize), program: "flux-diff", rule: kustomize },
  { tool: "Flux, a HelmRelease", apply: clientSide(helm), program: "flux-diff", rule: helm },
];

/**
 * Returns the result of a tool for an object and its manifest: `in sync`, or `out of sync` and the differences. A tool that compares two
 * responses treats a status that changes between them as a difference, until it compares again. So the tool runs three times.
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
