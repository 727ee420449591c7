import { afterAll, beforeEach, expect } from "vitest";
import { kubeconfigFile, runWave } from "./terminal.ts";
import { webCluster } from "./web.ts";

/** As much of a sandbox as the scene needs. */
interface ApiServer {
  readonly url: string;
  readonly kubeconfig: () => object;
  readonly faults: { readonly clear: () => void };
  readonly close: () => Promise<void>;
}

/**
 * `wave explain` for the Deployment `web` on this API server, which ends with the tests of the file. Each test begins
 * without faults and without what the others created. Only tests import it.
 */
export function explainScene(server: ApiServer) {
  const cluster = webCluster(server.url);
  // What the tests write has changed just now.
  const env = { KUBECONFIG: kubeconfigFile(server.kubeconfig()), WAVE_SETTLE: "0" };
  afterAll(() => server.close());
  beforeEach(async () => {
    server.faults.clear();
    await cluster.clean();
  });

  const explain = (...args: readonly string[]) => runWave(["explain", "deploy/web", ...args], env);
  /** What it says in JSON, without a word on standard error; that it cannot tell has an exit code of its own. */
  const explainJson = async (...args: readonly string[]) => {
    const { code, out, err } = await explain("-o", "json", ...args);
    const explanation = JSON.parse(out);
    expect({ code, err }).toEqual({ code: explanation.state === "unknown" ? 3 : 0, err: "" });
    return explanation;
  };
  return { cluster, env, explain, explainJson };
}
