import { createDice } from "./dice.ts";
import type { World, WorldOptions } from "./record.ts";
import { widgets } from "./stage/widgets.ts";
import { configActions, createConfig, createNamed, namespaceOf } from "./world-config-actions.ts";
import { checkedCount, checkedWorkloads, configKinds } from "./world-objects.ts";
import { pacingActions, releaseAll, validatorActions } from "./world-pacing-actions.ts";
import { chooseScenario, withPins } from "./world-scenarios.ts";
import { Scene } from "./world-scene.ts";
import { createWorkload, releaseActions, workloadActions } from "./world-workload-actions.ts";

const [configMaps] = configKinds;

const always = [...configActions, ...workloadActions];

/** Returns people and tools that change a cluster at random, from a seed. */
export function createWorld(options: WorldOptions): World {
  const dice = createDice(options.random);
  const { paced } = options;
  const { shape: usual, settings: chosen } = chooseScenario(dice, paced?.pacing);
  const pinnedShape = options.pinned ? withPins(usual, paced !== undefined) : usual;
  const { broken = false, validators = false } = options;
  const workloads = pinnedShape.workloads + (validators ? checkedCount : 0);
  const shape = { ...pinnedShape, workloads, broken, validators };
  const found = options.widgets ? { ...chosen, workloadKinds: widgets } : chosen;
  const pinConfig = options.pinned || options.returns ? { pinConfig: true } : {};
  const settings = { ...found, ...pinConfig, gateRequired: options.gateRequired };
  const scene = new Scene(options, dice, shape, settings);
  const actions = [
    ...always,
    ...(paced === undefined ? [] : pacingActions),
    ...(options.releases ? releaseActions : []),
    ...(validators ? validatorActions : []),
  ];
  return {
    settings,
    async start() {
      for (const name of shape.namespaces) await scene.create("namespaces", namespaceOf(name), undefined);
      // Only some of it: some of the referenced configuration is created later, some never.
      for (let i = 0; i < shape.namespaces.length * shape.configs * 2; i++) await createConfig(scene);
      for (let i = 0; i < shape.workloads; i++) await createWorkload(scene);
      const [namespace = ""] = validators ? shape.namespaces : [];
      if (validators) await createNamed(scene, configMaps, namespace, "c0");
      for (const one of validators ? checkedWorkloads(namespace) : [])
        await scene.create("deployments", one, namespace);
    },
    async step(wanted) {
      const first = actions.find(({ name }) => name === wanted);
      const done = await first?.act(scene);
      if (first !== undefined && done !== undefined) return `${first.name}: ${done}`;
      for (let tries = 0; tries < 50; tries++) {
        const action = dice.weighted(actions, ({ name, weight }) => shape.weights[name] ?? weight);
        const done = await action?.act(scene);
        if (action !== undefined && done !== undefined) return `${action.name}: ${done}`;
      }
      return "nobody found anything to do";
    },
    rest: () => {
      scene.rests = true;
    },
    release: () => releaseAll(scene),
  };
}
