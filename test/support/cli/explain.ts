import { afterAll, beforeEach, expect } from "vitest";
import { kubeconfigFile, runWave } from "./terminal.ts";
import { webCluster } from "./web.ts";

/** The part of a sandbox that the scene uses. */
interface ApiServer {
  readonly url: string;
  readonly kubeconfig: () => object;
  readonly faults: { readonly clear: () => void };
  readonly close: () => Promise<void>;
}

/**
 * Returns `wave explain` for the Deployment `web` on this API server, which stops after the tests of the file. Each test starts
 * without faults and without objects of other tests.
 */
export function explainScene(server: ApiServer) {
  const cluster = webCluster(server.url);
  // The tests write just before they explain, so no settle time applies.
  const env = { KUBECONFIG: kubeconfigFile(server.kubeconfig()), WAVE_SETTLE: "0" };
  afterAll(() => server.close());
  beforeEach(async () => {
    server.faults.clear();
    await cluster.clean();
  });

  const explain = (...args: readonly string[]) => runWave(["explain", "deploy/web", ...args], env);
  /** Returns the JSON output. Expects no standard error, and exit code 3 for the state unknown. */
  const explainJson = async (...args: readonly string[]) => {
    const { code, out, err } = await explain("-o", "json", ...args);
    const explanation = JSON.parse(out);
    expect({ code, err }).toEqual({ code: explanation.state === "unknown" ? 3 : 0, err: "" });
    return explanation;
  };
  return { cluster, env, explain, explainJson };
}
