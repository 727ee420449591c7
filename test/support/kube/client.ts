import type { ClusterConfig, TlsConfig } from "../../../src/kube/config/cluster-access.ts";
import { type Credentials, fixedCredentials, unchanging } from "../../../src/kube/config/credentials.ts";
import { type ApiClientOptions, createApiClient } from "../../../src/kube/http/client.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { MetricsRegistry } from "../../../src/telemetry/metrics/metrics.ts";

/** Creates a client of a test server. For tests only. */
export function clientOf(
  server: string,
  options: {
    readonly tls?: Partial<TlsConfig>;
    readonly proxy?: URL;
    readonly credentials?: Credentials;
    readonly clock?: ApiClientOptions["clock"];
    readonly collect?: () => void;
  } = {},
) {
  const metrics = new MetricsRegistry();
  const { tls, proxy, credentials = fixedCredentials(), clock = systemClock, collect } = options;
  const config: ClusterConfig = {
    server: new URL(server),
    source: "a test",
    tls: unchanging({ insecure: false, ...tls }),
    proxy,
    credentials,
  };
  const optional = collect ? { collect } : {};
  const client = createApiClient({ config, clock, metrics, userAgent: "wave/test", ...optional });
  return { client, metrics };
}

/** Returns the series of one metric that are not 0, such as `{verb="get",code="200"} 1`. */
export function seriesOf(metrics: MetricsRegistry, name: string): string[] {
  const lines = metrics.render().split("\n");
  return lines
    .filter((line) => line.startsWith(`${name}{`) && !line.endsWith(" 0"))
    .map((line) => line.slice(name.length));
}
