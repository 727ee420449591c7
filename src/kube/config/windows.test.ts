import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, expect, it, vi } from "vitest";

vi.mock("node:path", async (original) => {
  const { win32 } = await original<typeof import("node:path")>();
  return { ...win32, default: win32 };
});

// Other files of this process have imported these modules, and later files import them again, with the paths of this machine.
vi.resetModules();
const { Section } = await import("../../lib/yaml-mapping.ts");
const { loadClusterConfig } = await import("./cluster-config.ts");
afterAll(() => void vi.resetModules());

const folder = mkdtempSync(`${tmpdir()}/wave-windows-`);

/** Writes a kubeconfig with one part of the configuration, and returns its path. */
function part(name: string, content: object): string {
  writeFileSync(`${folder}/${name}`, JSON.stringify(content));
  return `${folder}/${name}`;
}

it("merges the files of KUBECONFIG, which Windows separates by semicolons, so that drives keep their colons", async () => {
  const context = part("context", {
    "current-context": "dev",
    contexts: [{ name: "dev", context: { cluster: "dev", user: "dev", namespace: "shop" } }],
  });
  const cluster = part("cluster", {
    clusters: [{ name: "dev", cluster: { server: "https://dev.example" } }],
    users: [{ name: "dev", user: {} }],
  });
  const env = { KUBECONFIG: `C:\\does\\not\\exist;${context};${cluster}` };
  const config = await loadClusterConfig({ env, homeDir: "C:\\Users\\a" });
  expect({ server: config.server.href, namespace: config.namespace }).toEqual({
    server: "https://dev.example/",
    namespace: "shop",
  });
});

it("looks in the home folder of Windows", async () => {
  const without = loadClusterConfig({ env: {}, homeDir: "C:\\Users\\a" });
  await expect(without).rejects.toThrow("C:\\Users\\a\\.kube\\config");
});

it.each([
  ["certs\\ca.pem", "C:\\Users\\a\\.kube\\certs\\ca.pem"],
  ["certs/ca.pem", "C:\\Users\\a\\.kube\\certs\\ca.pem"],
  ["D:\\ca.pem", "D:\\ca.pem"],
])("resolves %j from the folder of the kubeconfig", (path, resolved) => {
  const file = "C:\\Users\\a\\.kube\\config";
  const section = new Section({ ca: path }, { file, mistake: (message) => new Error(message) }, "");
  expect(section.path("ca")).toBe(resolved);
});
