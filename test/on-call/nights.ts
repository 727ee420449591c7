import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { configurations } from "../admission/admitted.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { leadToReplica, type Release, type Replica } from "../deploy/installed.ts";

/** The place of the nights: a cluster with a release of the chart, whose only replica is a process of the test. */
export interface Place {
  readonly cluster: Cluster;
  readonly release: Release;
  readonly replica: Replica;
}

/** The fault of one walk, and the steps that are not commands of the page. */
export interface Night {
  /** The series of the alert during the fault. The metrics have no such line before and after. */
  readonly series: RegExp;
  /** Returns the metrics of the API server, if the series is not a metric of Wave. */
  readonly by?: "api server";
  /** Causes the fault. Resolves to a function for the steps that kwok does not simulate, as soon as the person has repaired it. */
  readonly breaks: (place: Place) => Promise<() => Promise<unknown>>;
  /**
   * The block of the page before which that function runs, if the person does not wait for its effect: for example the server is
   * available again, or the Service leads to the replica.
   */
  readonly answersBefore?: number;
}

const page = "/api/v1/namespaces/shop/configmaps/page";
const mergePatch = "application/merge-patch+json";

/** The nights by the titles of the page. */
export const nights: Readonly<Record<string, Night>> = {
  "Stop every rollout": {
    series: /^wave_cluster_hold 1/m,
    // Another person held every rollout before, and forgot the hold.
    breaks: async ({ cluster, release }) => {
      await cluster.kubectl(["annotate", "namespace", release.namespace, "wave.pusher.com/hold-cluster=true"]);
      await cluster.api("PATCH", page, { data: { "index.html": "Good evening" } }, mergePatch);
      return async () => undefined;
    },
  },
  "A ConfigMap is broken": {
    series: /^wave_rollouts_halted [1-9]/m,
    // The Pods of kwok read nothing, so no edit could break them. While the page is broken the only node accepts no Pod.
    breaks: async ({ cluster }) => {
      await cluster.kubectl(["cordon", "node-0"]);
      await cluster.api("PATCH", page, { data: { "index.html": "Hello {{ name" } }, mergePatch);
      return async () => {
        await until(
          "the page to be mended",
          async () => {
            const { data } = await cluster.api<AnyObject & { data: Record<string, string> }>("GET", page);
            return data["index.html"]?.startsWith("Hello") ? undefined : true;
          },
          90_000,
        );
        await cluster.kubectl(["uncordon", "node-0"]);
      };
    },
  },
  "A Secret is missing": {
    series: /^wave_workloads_longest_seconds\{state="waiting"\} [^0]/m,
    breaks: async ({ cluster }) => {
      const env = [{ name: "PASSWORD", valueFrom: { secretKeyRef: { name: "db", key: "password" } } }];
      const patch = [{ op: "add", path: "/spec/template/spec/containers/0/env", value: env }];
      const mail = "/apis/apps/v1/namespaces/shop/deployments/mail";
      await cluster.api("PATCH", mail, patch, "application/json-patch+json");
      return async () => undefined;
    },
  },
  "The webhook is down": {
    series: /^apiserver_admission_webhook_fail_open_count\{name="workloads\.wave\.pusher\.com",type="admit"\} [1-9]/m,
    by: "api server",
    breaks: async ({ cluster, release, replica }) => {
      // The port of the chart, so that the API server cannot use a connection that is still open.
      const port = [{ op: "remove", path: "/webhooks/0/clientConfig/service/port" }];
      await cluster.api("PATCH", `${configurations}/wave-webhook`, port, "application/json-patch+json");
      await cluster.kubectl(["-n", release.namespace, "delete", "service", "wave-webhook"]);
      let deployed = 0;
      await until("the API server to ask in vain", async () => {
        const deploy = ["-n", "shop", "annotate", "--overwrite", "deployment", "web"];
        await cluster.kubectl([...deploy, `example.com/deployed=${++deployed}`]);
        return (await cluster.kubectl(["get", "--raw", "/metrics"])).includes("webhook_fail_open_count{") || undefined;
      });
      return () => leadToReplica(cluster, release, replica);
    },
    answersBefore: 2,
  },
  "A namespace is full": {
    series: /^wave_rollouts_stuck [1-9]/m,
    breaks: async ({ cluster }) => {
      await cluster.kubectl(["-n", "shop", "create", "quota", "team", "--hard=pods=6"]);
      await cluster.api("PATCH", page, { data: { "index.html": "Welcome back" } }, mergePatch);
      return async () => undefined;
    },
  },
  "The API server is gone": {
    series: /^wave_api_server_reachable 0/m,
    breaks: async ({ cluster }) => {
      await cluster.api("PATCH", page, { data: { "index.html": "Good night" } }, mergePatch);
      const server = Number(readFileSync(join(dirname(cluster.kubeconfig), "kube-apiserver.pid"), "utf8"));
      process.kill(server, "SIGSTOP");
      return async () => process.kill(server, "SIGCONT");
    },
    answersBefore: 1,
  },
};
