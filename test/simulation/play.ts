import { judge } from "./judge.ts";
import { standsFor } from "./model-search.ts";
import { namedBy } from "./model-workload.ts";
import type { BatchSettings, Recording, ReviewEntry, StoredObject } from "./record.ts";
import { type SmallStage, someSettings, startSmallStage } from "./small-stage.ts";

/** The path of the ConfigMap. */
export const configMaps = "/api/v1/namespaces/default/configmaps";
/** The path of the Deployment. */
export const deployments = "/apis/apps/v1/namespaces/default/deployments";
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
/** The media type of a merge patch. */
export const merge = "application/merge-patch+json";
/** The annotation of the pod template. */
export const hashAnnotation = "wave.pusher.com/config-hash";
const optIn = { "wave.pusher.com/update-on-config-change": "true" };

/** A Deployment that reads the key `k` of the ConfigMap `c`, and processes of Wave that the test controls. */
export class Play {
  readonly stage: SmallStage = startSmallStage(() => 0.5);
  reviews: ReviewEntry[] = [];
  settings: BatchSettings = someSettings;
  #events = 0;

  async begin(): Promise<this> {
    await this.config("A");
    await this.create();
    await this.lead("a#1");
    return this;
  }

  create(): Promise<unknown> {
    return this.stage.api.request("POST", deployments, { body: this.deployment("web") });
  }

  /** Returns a Deployment without Pods, or, if `broken` is given, with one Pod; a broken Pod never starts. */
  deployment(name: string, broken?: boolean): object {
    const env = [{ name: "V", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }];
    const labels = { app: name };
    const pod = { containers: [{ name: "app", image: "app:1", env }], ...(broken && { schedulerName: "nobody" }) };
    const template = { metadata: { labels }, spec: pod };
    const spec = { replicas: broken === undefined ? 0 : 1, selector: { matchLabels: labels }, template };
    return { metadata: { name, annotations: optIn }, spec };
  }

  async config(value: string | undefined): Promise<void> {
    const { api } = this.stage;
    const path = `${configMaps}/c`;
    const data = value === undefined ? {} : { k: value };
    const body = { metadata: { name: "c" }, data };
    const { status } = await api.request("PUT", path, { body });
    if (status === 404) await api.request("POST", configMaps, { body });
    await this.stage.clock.advance(10);
  }

  /** Takes or renews the Lease, at this time by the clock of the process. */
  async lead(replica: string, renewTime?: string): Promise<void> {
    const api = this.stage.wave(replica);
    const spec = { holderIdentity: replica, ...(renewTime !== undefined && { renewTime }) };
    const { status } = await api.request("POST", leases, { body: { metadata: { name: "wave" }, spec } });
    if (status === 409) await api.request("PATCH", `${leases}/wave`, { body: { spec }, contentType: merge });
    await this.stage.clock.advance(10);
  }

  get workload(): StoredObject {
    return this.#find("web");
  }

  #find(name: string): StoredObject {
    const ofIt = (object: StoredObject | undefined) => object?.metadata.name === name;
    const last = this.stage.history.findLast(({ resource, after }) => resource === "deployments" && ofIt(after))?.after;
    if (last === undefined) throw new Error(`there is no Deployment ${name}`);
    return last;
  }

  /** Returns the hash of what the Deployment would see if `k` had this value. */
  hash(value: string): string {
    const config = { kind: "ConfigMap", metadata: { name: "c", namespace: "default", uid: "", resourceVersion: "" } };
    const { hash = "" } = standsFor(namedBy(this.workload, this.settings), () => ({ ...config, data: { k: value } }));
    return hash;
  }

  /** Writes the hash for this value of `k`, with optional other changes, and reports the write in an Event. */
  roll(value: string, options: { replica?: string; more?: object; tell?: boolean } = {}): Promise<void> {
    return this.rollOne("web", value, options);
  }

  async rollOne(
    name: string,
    value: string,
    { replica = "a#1", more = {}, tell = true }: { replica?: string; more?: object; tell?: boolean } = {},
  ): Promise<void> {
    const template = { metadata: { annotations: { [hashAnnotation]: this.hash(value) } } };
    const body = { ...more, spec: { template } };
    await this.stage.wave(replica).request("PATCH", `${deployments}/${name}`, { body, contentType: merge });
    if (tell) await this.tell(replica, undefined, undefined, name);
    await this.stage.clock.advance(10);
  }

  tell(replica = "a#1", message = `${this.#events++}`, reason = "ConfigChanged", name = "web"): Promise<unknown> {
    const { uid } = this.#find(name).metadata;
    const metadata = { name: `${name}.${this.stage.history.length}`, namespace: "default" };
    const body = { metadata, involvedObject: { uid }, type: "Normal", reason, message, reportingComponent: "wave" };
    return this.stage.wave(replica).request("POST", "/api/v1/namespaces/default/events", { body });
  }

  /** Sets the count of the last Event. */
  setCount(count: number, replica = "a#1"): Promise<unknown> {
    const last = this.stage.history.findLast(({ resource }) => resource === "events")?.after;
    const path = `/api/v1/namespaces/default/events/${last?.metadata.name}`;
    return this.stage.wave(replica).request("PATCH", path, { body: { count }, contentType: merge });
  }

  edit(body: object): Promise<unknown> {
    return this.stage.api.request("PATCH", `${deployments}/web`, { body, contentType: merge });
  }

  recording(): Recording {
    // No fault has happened for long.
    return { ...this.stage.recording(this.settings, -60_000), reviews: this.reviews };
  }

  async judged(): Promise<readonly string[]> {
    await this.stage.clock.advance(30_000);
    return judge(this.recording());
  }
}
