import { describe, expect, it } from "vitest";
import { Soak, type WaitCheck } from "./wait-for-workload.ts";

const check = (progress: WaitCheck["progress"], restarts = 0): WaitCheck => ({
  ...{ progress, restarts, complete: true, state: "current", message: "2 of 2 Pods run.", next: "" },
});

describe("the soak time of wave wait", () => {
  it("begins when the workload is complete, and again after each interruption", () => {
    const soak = new Soak(10_000);
    const at = (now: number, each: WaitCheck) => soak.afterSoak(each, now).progress;
    expect(at(0, check("open"))).toBe("open");
    expect(at(1_000, check("done"))).toBe("open");
    expect(at(10_999, check("done"))).toBe("open");
    expect(at(11_000, check("done"))).toBe("done");
    expect(at(12_000, check("open"))).toBe("open");
    expect(at(13_000, check("done"))).toBe("open");
    expect(at(22_999, check("done"))).toBe("open");
    expect(at(23_000, check("done"))).toBe("done");
  });

  it("begins again if a container restarts, although every Pod is ready at each check", () => {
    const soak = new Soak(10_000);
    soak.afterSoak(check("done", 3), 0);
    expect(soak.afterSoak(check("done", 4), 10_000).progress).toBe("open");
    expect(soak.afterSoak(check("done", 4), 20_000).progress).toBe("done");
  });

  it("does not delay a workload that only a person can continue, and is off by default", () => {
    expect(new Soak(10_000).afterSoak(check("over"), 0).progress).toBe("over");
    expect(new Soak(0).afterSoak(check("done"), 0).progress).toBe("done");
  });
});
