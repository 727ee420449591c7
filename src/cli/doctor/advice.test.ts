import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** The test that executes an advice as it is printed, by file and title, or why none does. */
type Proof = { readonly test: string; readonly title: string } | { readonly why: string };

const follows = (title: string): Proof => ({ test: "test/end-to-end/doctor.test.ts", title });
const reads: Proof = { why: "It changes nothing." };
const edits: Proof = { why: "It opens an editor, in which a person decides." };
const image = follows("finds an upgrade whose new Pods crash while the old Pods are ready");
const annotations = follows("finds waiting workloads, and annotations without effect");
const alone = follows("finds a replica without standby, replicas without election, and a hold of every rollout");
const removed = follows("finds what kubectl delete namespace leaves, and prints commands that remove it");

/** Every command that `wave doctor` advises, with … for names. */
const advice: Readonly<Record<string, Proof>> = {
  "helm get manifest … -n … | kubectl apply -f -": follows(
    "finds a webhook configuration that is missing, left over, or without endpoints",
  ),
  "helm upgrade … deploy/chart -n … --reset-then-reuse-values --set-string image.repository=IMAGE,image.tag=TAG": image,
  "kubectl annotate … …=…": annotations,
  "kubectl annotate … …=… && kubectl label … …-": annotations,
  "kubectl annotate … …=… …-": annotations,
  "kubectl annotate … …shared-with=…  # once it exists": follows(
    "finds an object that another namespace does not share",
  ),
  "kubectl api-resources": reads,
  "kubectl api-versions": reads,
  "kubectl create namespace …": follows("finds unknown flags, and namespaces that do not exist"),
  "kubectl create … … -n … --from-file=KEY=FILE": annotations,
  "kubectl delete --ignore-not-found validatingadmissionpolicybinding …": {
    test: "test/pinning/doctor.test.ts",
    title: "prints how to delete copies whose deletion a policy denies",
  },
  "kubectl delete --ignore-not-found …": removed,
  "kubectl delete configmaps … --selector …=true": {
    test: "test/pinning/uninstall.test.ts",
    title: "keeps running Pods and starts live ones if Wave and its policies are removed under a hold",
  },
  "kubectl delete …": removed,
  "kubectl describe …": reads,
  "kubectl describe … … -n …  # it makes the Secret": reads,
  "kubectl edit …": edits,
  "kubectl edit …  # add the key": edits,
  "kubectl edit …  # no … can have this name": edits,
  "kubectl events -n … --for …/…": reads,
  "kubectl get externalsecrets,secretproviderclasses -n …  # whether one of them makes the Secret": reads,
  "kubectl get pods -n …": reads,
  "kubectl logs …": reads,
  "kubectl rollout restart …": follows("finds a replica with another image"),
  "kubectl rollout status …": reads,
  "kubectl scale … --replicas=…": follows("finds missing replicas, with the cause"),
  "kubectl scale … --replicas=0": follows("does not advise to delete the webhook of another Wave"),
  "kubectl scale … --replicas=1": alone,
  "kubectl scale … --replicas=2": alone,
  "kubectl set image -n … deployment/… …=IMAGE:TAG": image,
  "wave explain …": reads,
  "wave history …": reads,
  "wave release --cluster": alone,
  "wave release --scheduling-holds -n …": follows("finds missing replicas, with the cause"),
};

const root = new URL("../../../", import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Returns the commands in the sources of the checks, with … for each name. */
function commandsIn(source: string): readonly string[] {
  const code = source.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "");
  const literals = code.matchAll(/["`]((?:kubectl|wave|helm) [^"`]*)/g);
  return Array.from(literals, ([, literal = ""]) => literal.replaceAll(/\$\{[^}]*(\}\)?\}|\}|$)/g, "…").trim());
}

it("every command that wave doctor advises is executed by a test, or the table says why not", () => {
  const files = globSync("src/cli/doctor/{checks,context}/*.ts", { cwd: root.pathname });
  const sources = files.filter((file) => !file.endsWith(".test.ts")).map(text);
  const found = new Set(sources.flatMap(commandsIn));
  // Part of the description of an installation.
  found.delete("wave run");
  expect([...found].toSorted()).toEqual(Object.keys(advice).toSorted());
  for (const proof of Object.values(advice))
    if ("test" in proof) expect(text(proof.test)).toContain(`it("${proof.title}"`);
});
