import { expect, it, onTestFinished } from "vitest";
import { settingsWith } from "../../test/support/domain/compatibility.ts";
import { eventually } from "../../test/support/eventually.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeWatch } from "../../test/support/fake-watch.ts";
import { readLabelSelector } from "../domain/syntax/label-selector.ts";
import { silentLogger } from "../telemetry/logging/log.ts";
import { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import { cachesOver } from "./cluster-cache.ts";

const reload = { reload: "yes" };

it("stores whether flags select the labels of Namespaces and objects, and reports a change of the selection", async () => {
  const fake = new FakeWatch({ listsNamespaces: false });
  const told: string[] = [];
  const selector = readLabelSelector("reload=yes");
  const filters = { ignoredNamespaces: [], namespaces: selector, configs: selector, ignoredKinds: [] };
  const caches = cachesOver(fake, {
    namespaces: undefined,
    compatibility: settingsWith({ understood: ["wave"], filters }),
    clock: new FakeClock(),
    log: silentLogger,
    metrics: new MetricsRegistry(),
    random: () => 1,
    onWorkloadChange: () => {},
    onConfigChange: ({ key }) => told.push(key),
    onNamespaceChange: (name) => told.push(name),
  });
  const end = new AbortController();
  onTestFinished(() => end.abort());
  void caches.run(end.signal);
  const shop = (labels: object) => ({ metadata: { name: "shop", uid: "1", resourceVersion: "1", labels } });
  const page = (labels: object) => ({
    metadata: { namespace: "shop", name: "page", uid: "1", resourceVersion: "1", labels },
    data: { a: "1" },
  });
  await fake.feed("namespaces").list(shop({}));
  await fake.feed("configmaps").list(page({}));
  await fake.feed("secrets").list();
  expect(caches.namespace("shop")?.unselected).toBe(true);
  expect(caches.lookup("ConfigMap", "shop", "page")?.directive).toBe("unselected");
  told.length = 0;
  await fake.feed("namespaces").push({ type: "apply", object: shop(reload) });
  await fake.feed("configmaps").push({ type: "apply", object: page(reload) });
  await eventually(() => expect(told).toHaveLength(2));
  expect(caches.namespace("shop")).toEqual({
    optsIn: false,
    annotations: {},
    unselected: false,
    deleting: false,
  });
  expect(caches.lookup("ConfigMap", "shop", "page")?.directive).toBeUndefined();
});
