/** Runs helm with these arguments and resolves with what it printed. */
export type Helm = (args: readonly string[]) => Promise<string>;

const chart = new URL("../chart", import.meta.url).pathname;

const namespace = `apiVersion: v1
kind: Namespace
metadata:
  name: wave-system
  labels:
    app.kubernetes.io/name: wave
    pod-security.kubernetes.io/enforce: restricted
`;

/** The files that are the chart as it is rendered, for who does not use Helm: their texts by their paths in deploy/. */
export async function renderedFiles(helm: Helm): Promise<Readonly<Record<string, string>>> {
  const wave = await rendered(helm);
  return {
    "wave.yaml": `${head("kubectl apply -f deploy/wave.yaml")}---\n${namespace}${wave}`,
    "kustomize/base/wave.yaml": head("all namespaces, without webhooks") + wave,
    "kustomize/webhooks/webhooks.yaml":
      head("what webhooks need besides") +
      (await rendered(helm, "--set", "webhooks.enabled=true", "-s", "templates/webhooks.yaml")),
  };
}

function head(what: string): string {
  return `# Made by \`npm run chart\`: ${what}\n`;
}

/** For the oldest Kubernetes that is supported, and without the labels that say that Helm keeps the objects. */
async function rendered(helm: Helm, ...args: readonly string[]): Promise<string> {
  const common = ["template", "wave", chart, "-n", "wave-system", "--kube-version", "1.30.0", "--skip-tests"];
  const text = await helm([...common, ...args]);
  return text.replaceAll(/^ *(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm, "");
}
