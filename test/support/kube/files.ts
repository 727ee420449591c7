import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder with these files (name → content) and removes it after the test. Scripts are executable. For tests only. */
export async function temporaryFiles(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wave-kube-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), content);
    if (content.startsWith("#!")) await chmod(join(folder, name), 0o755);
  }
  return folder;
}

/** Fields of the only cluster, user and context of a kubeconfig, all named "dev". */
export interface KubeconfigParts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

/** Returns a kubeconfig in JSON, which is YAML. */
export function kubeconfigOf({ cluster, user, context }: KubeconfigParts = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "dev",
    clusters: [{ name: "dev", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
    users: [{ name: "dev", user: { ...user } }],
    contexts: [{ name: "dev", context: { cluster: "dev", user: "dev", ...context } }],
  });
}
