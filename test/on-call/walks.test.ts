import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { helm } from "../admission/admitted.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { leadToReplica, nameHost, type Release, startReplica } from "../deploy/installed.ts";
import { chart } from "../deploy/rendered.ts";
import { Scene } from "../docs/scene.ts";
import { waitedMs } from "../support/processor-time.ts";
import { type Night, nights, type Place } from "./nights.ts";
import { commandsBySymptom, type Walk, walksOf } from "./page.ts";

const page = "docs/on-call.md";
const walks = walksOf(page);
// A leader that cannot renew on a busy machine would lose the record for which change it rolled within the same second.
const longTerms = ["leaderElection.leaseDuration=18s"];
const paced = ["settle=500ms", "soak=500ms", "maxConcurrentRollouts=20"];
const release: Release = {
  name: "wave",
  namespace: "wave-system",
  values: ["--set", ["webhooks.enabled=true", ...longTerms, ...paced].join()],
};

// The test breaks the control plane, and a Wave in all namespaces would roll the workloads of other suites.
describeOnOwnControlPlane("a person on call, with the commands of the page,", (cluster) => {
  let place: Place;
  let scene: Scene;

  const series = async ({ by }: Night) =>
    by === undefined ? place.replica.metrics() : await cluster.kubectl(["get", "--raw", "/metrics"]);
  const isHealthy = async () => {
    const told = await new Promise<string>((resolve) => {
      const args = ["doctor", "-n", "shop", "--kubeconfig", place.cluster.kubeconfig];
      execFile(waveCommand, args, (_error, out, errors) => resolve(out + errors));
    });
    if (!told.includes("leftovers") || /PROBLEM|WARNING/.test(told)) throw new Error(told);
    return true;
  };

  /**
   * Waits for the rollouts of the walk before, because an old rollout would be the canary of the next edit. Then as after 10 quiet
   * minutes, each workload waits for the shortest interval.
   */
  const passQuietly = async () => {
    const names = (await cluster.kubectl(["get", "deployments", "-n", "shop", "-o", "name"])).trim().split("\n");
    const workloads = names.map((name) => name.replace(".apps", ""));
    const args = ["wait", ...workloads, "-n", "shop", "--timeout=2m", "--kubeconfig", cluster.kubeconfig];
    await promisify(execFile)(waveCommand, args);
    await cluster.kubectl(["annotate", ...workloads, "-n", "shop", "wave.pusher.com/consecutive-rollouts-"]);
  };

  beforeAll(async () => {
    const { name, namespace, values } = release;
    await helm(cluster, ["install", name, chart, "-n", namespace, "--create-namespace", ...values]);
    await nameHost(cluster, release);
    const replica = await startReplica(cluster, release);
    await leadToReplica(cluster, release, replica);
    place = { cluster, release, replica };
    scene = new Scene(page, cluster.kubeconfig);
    await scene.begin();
  });
  afterAll(async () => {
    await scene?.end();
    await place?.replica.stop("SIGKILL");
  });

  it("has a walk for each night, from an alert that uses its series", () => {
    expect(walks.map(({ title }) => title)).toEqual(Object.keys(nights));
    const rules = readFileSync(join(chart, "files/alerts.yaml"), "utf8").split("- alert: ");
    for (const { title, alert } of walks) {
      const name = nights[title]?.series.source.match(/\w+/)?.[0] ?? "";
      expect(
        rules.find((rule) => rule.startsWith(`${alert}\n`)),
        title,
      ).toContain(name);
    }
  });

  it("can type each command of the table of symptoms", async () => {
    const commands = commandsBySymptom(page);
    expect(commands.length).toBeGreaterThan(12);
    // The doctor of a healthy cluster is a part of every walk.
    for (const command of commands.filter((each) => each !== "wave doctor")) await scene.run(command, page);
    await leadToReplica(cluster, release, place.replica);
    await passQuietly();
  });

  it.for(walks)("ends the fault in a minute: $title", async (walk: Walk) => {
    const night = nights[walk.title] ?? expect.fail("no such night");
    await passQuietly();
    expect(await series(night)).not.toMatch(night.series);
    const answer = await night.breaks(place);
    try {
      await until("the alert's series", async () => (night.series.test(await series(night)) ? true : undefined));
    } catch (error) {
      // The API server must run again after the test.
      if (night.answersBefore !== undefined) await answer().catch(() => {});
      throw error;
    }
    // Without the time for which the machine makes Wave and this test wait.
    const now = () => performance.now() - waitedMs(place.replica.process.pid ?? 0) - waitedMs("thread-self");
    const started = now();
    const follow = async () => {
      for (const [index, block] of walk.blocks.entries()) {
        if (index === night.answersBefore) await answer();
        await scene.follow(block);
      }
    };
    await Promise.all([follow(), night.answersBefore === undefined ? answer() : undefined]);
    expect((now() - started) / 1_000).toBeLessThan(60);
    // The API server continues to count the requests that it admitted.
    if (night.by === undefined)
      await until("the series to be as before", async () =>
        night.series.test(await series(night)) ? undefined : true,
      );
    await until("the doctor to find nothing", isHealthy);
  });
});
