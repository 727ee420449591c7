import { expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { deploymentIn, ofKind, only, rendered } from "./rendered.ts";

const config = { receivers: [{ name: "a", type: "slack", urlFile: "slack-url", outcomes: ["halted"] }] };
const mount = { name: "notify", mountPath: "/notify", readOnly: true };

describeOnControlPlane("the chart's notifications", (cluster) => {
  const podOf = async (notify: object) => {
    const { metadata, spec } = deploymentIn(await rendered(cluster, { notify })).spec.template;
    const [{ args, volumeMounts = [] }] = spec.containers;
    return { annotations: metadata.annotations, volumes: spec.volumes, args, volumeMounts };
  };

  it("are off by default", async () => {
    const manifests = await rendered(cluster);
    const { args, volumeMounts } = deploymentIn(manifests).spec.template.spec.containers[0];
    expect([args.filter((arg) => arg.startsWith("--notify")), volumeMounts]).toEqual([[], undefined]);
    expect(ofKind("Secret", manifests)).toEqual([]);
  });

  it("come from a Secret with notify.config, and a change restarts Pods", async () => {
    const manifests = await rendered(cluster, { notify: { config } });
    const secret = only("Secret", manifests);
    expect(secret.metadata.name).toBe("wave-notify");
    const { "notify.json": text } = secret.stringData as Readonly<Record<string, string>>;
    expect(JSON.parse(text ?? "")).toEqual(config);
    const { args, volumes, volumeMounts, annotations } = await podOf({ config });
    expect(args).toContain("--notify=/notify/notify.json");
    expect(volumeMounts).toEqual([mount]);
    expect(volumes).toEqual([{ name: "notify", projected: { sources: [{ secret: { name: "wave-notify" } }] } }]);
    const other = await podOf({ config: { receivers: [] } });
    expect(other.annotations).not.toEqual(annotations);
  });

  it("are rejected with an outcome or type that Wave does not know, before Wave crashes on it", async () => {
    const [receiver] = config.receivers;
    const withReceiver = (change: object) =>
      rendered(cluster, { notify: { config: { receivers: [{ ...receiver, ...change }] } } });
    await expect(withReceiver({ outcomes: ["rolls"] })).rejects.toThrow(/outcomes/);
    await expect(withReceiver({ type: "irc" })).rejects.toThrow(/type/);
    await expect(withReceiver({ outcomes: ["*"] })).resolves.not.toEqual([]);
  });

  it("can come from an existing Secret with the file and URLs", async () => {
    const { args, volumes, annotations } = await podOf({ existingSecret: "chats" });
    expect(args).toContain("--notify=/notify/notify.yaml");
    expect(volumes).toEqual([{ name: "notify", projected: { sources: [{ secret: { name: "chats" } }] } }]);
    expect(annotations).toBeUndefined();
    const both = await podOf({ config, existingSecret: "chats" });
    expect(both.args).toContain("--notify=/notify/notify.json");
    const sources = [{ secret: { name: "wave-notify" } }, { secret: { name: "chats" } }];
    expect(both.volumes).toEqual([{ name: "notify", projected: { sources } }]);
  });

  it("are permitted by a NetworkPolicy that limits egress", async () => {
    const networkPolicy = { enabled: true, egress: [{ ports: [{ port: 6443 }] }] };
    const egress = async (...values: object[]) =>
      (only("NetworkPolicy", await rendered(cluster, { networkPolicy }, ...values)).spec as { egress: object[] })
        .egress;
    expect(await egress()).toEqual(networkPolicy.egress);
    const https = { port: 443, protocol: "TCP" };
    expect(await egress({ notify: { config } })).toMatchObject([...networkPolicy.egress, { ports: [https, {}, {}] }]);
    const own = [{ to: [{ ipBlock: { cidr: "10.0.0.1/32" } }] }];
    expect(await egress({ notify: { config, egress: own } })).toEqual([...networkPolicy.egress, ...own]);
  });
});
