import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder with these files (name → content) that lives as long as the test. Scripts are executable. Only tests import it. */
export async function temporaryFiles(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wave-kube-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), content);
    if (content.startsWith("#!")) await chmod(join(folder, name), 0o755);
  }
  return folder;
}

/** What a test says about a kubeconfig's only cluster, user and context, all named "dev". */
export interface KubeconfigParts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

/** A kubeconfig in JSON, which is YAML. */
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
