import { expect, it } from "vitest";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart } from "./rendered.ts";

describeOnControlPlane("the notes of the chart", (cluster) => {
  const notes = async (...values: readonly string[]) => {
    const set = values.flatMap((value) => ["--set", value]);
    const text = await helm(cluster, ["install", "wave", chart, "-n", "wave-system", "--dry-run=client", ...set]);
    return text.slice(text.indexOf("\nNOTES:"));
  };

  it("name the namespaces, the start time and the test command", async () => {
    const text = await notes("image.repository=registry.example/wave", "namespaces={shop,payments}");
    expect(text).toContain("Wave rolls workloads that opt in, in the namespaces shop, payments.");
    expect(text).toContain("Wave starts to roll workloads 15s after this install");
    expect(text).toContain("helm test wave -n wave-system");
    expect(text).not.toContain("is not public");
  });

  it("report that Wave only observes", async () => {
    await expect(notes("observe=true")).resolves.toMatch(/Wave only observes: .* rolls no workload/);
  });

  it("name the step before an uninstall if configuration is pinned", async () => {
    await expect(notes("pinConfig.enabled=true", "webhooks.enabled=true")).resolves.toContain(
      "Before you uninstall Wave, unpin",
    );
    await expect(notes()).resolves.not.toContain("unpin");
  });

  it("report that the image is missing", async () => {
    await expect(notes()).resolves.toContain("is not public. Build it");
  });
});
