import { expect, it } from "vitest";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart } from "./rendered.ts";

describeOnControlPlane("what helm says after the chart was installed", (cluster) => {
  const notes = async (...values: readonly string[]) => {
    const set = values.flatMap((value) => ["--set", value]);
    const said = await helm(cluster, ["install", "wave", chart, "-n", "wave-system", "--dry-run=client", ...set]);
    return said.slice(said.indexOf("\nNOTES:"));
  };

  it("is whose workloads are rolled, from when on, and how to find out whether it works", async () => {
    const said = await notes("image.repository=registry.example/wave", "namespaces={shop,payments}");
    expect(said).toContain("Wave rolls workloads that opt in, in the namespaces shop, payments:");
    expect(said).toContain("Nothing is rolled in the first 15s");
    expect(said).toContain("helm test wave -n wave-system");
    expect(said).not.toContain("published nowhere");
  });

  it("is that nothing is rolled where Wave only observes", async () => {
    await expect(notes("observe=true")).resolves.toMatch(/Wave rolls nothing, .* of the workloads that opt in/);
  });

  it("is that there is no image where none was named", async () => {
    await expect(notes()).resolves.toContain("published nowhere: make it");
  });
});
