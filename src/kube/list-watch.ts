import type { KubeObject } from "./api-types.ts";

/**
 * What a reflector is told. Between `init` and `initDone` come all objects that exist now, as `initApply`: what was known
 * before and is not among them is gone. An `init` may come again before `initDone`: what came since the first is void.
 */
export type ReflectorEvent<T extends KubeObject> =
  | { readonly type: "init" }
  | { readonly type: "initApply"; readonly object: T }
  | { readonly type: "initDone" }
  | { readonly type: "apply"; readonly object: T }
  | { readonly type: "delete"; readonly object: T };
