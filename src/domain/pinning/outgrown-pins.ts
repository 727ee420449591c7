import { changedBeforeWrite } from "../config/digest.ts";
import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import { copyContent, wholeContent } from "./copy-content.ts";
import { referencesTo } from "./pinned-lookup.ts";
import { pinsIn } from "./pins.ts";

/**
 * Reports whether another client changed the pod template so that its Pods read keys that a copy lacks. The template replaces the Pods already,
 * so a rollout to the live content has nothing to wait for: a webhook would write it in the request of the client. A ConfigMap that changed
 * after the template is a change of its own. An edit outside of the pod template replaces no Pods, and only a watch tells the two apart.
 */
export function hasOutgrownPins(workload: Workload, live: Lookup): boolean {
  const { namespace, pinned, templateWrite } = workload;
  if (templateWrite === undefined) return false;
  return pinsIn(pinned)
    .entries()
    .some(([name, copyName]) => {
      const source = live("ConfigMap", namespace, name);
      const copy = live("ConfigMap", namespace, copyName);
      if (copy?.isCopy !== true || source === undefined || !changedBeforeWrite(source, templateWrite)) return false;
      const inPods = referencesTo(workload, name).filter(({ annotation }) => annotation === undefined);
      const [has, reads] = [wholeContent(copy), copyContent(inPods, source)];
      return (
        reads.data.some((key) => !has.data.includes(key)) ||
        reads.binaryData.some((key) => !has.binaryData.includes(key))
      );
    });
}
