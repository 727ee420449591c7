import type { ConfigMap, OwnerReference } from "#kubernetes";
import { contentBytes } from "../domain/config/digest.ts";
import type { Workload } from "../domain/model/workload.ts";
import { type CopySize, copyLimitText, exceedsCopyLimit } from "../domain/pinning/collect.ts";
import { type CopyContent, copyData, copyName } from "../domain/pinning/copy-content.ts";
import type { PinSource } from "../domain/pinning/pin-request.ts";
import { copyOf, editedBy, pinnedCopyLabel } from "../domain/references/annotations.ts";
import { contentEditedBy, fieldManager } from "../domain/references/field-managers.ts";
import { quoted } from "../domain/syntax/wording.ts";
import { refusalOf } from "../kube/api/api-failure.ts";
import { isAlreadyExists } from "../kube/api/errors.ts";
import { resourcePath, resources } from "../kube/api/resources.ts";
import {
  existingCopy,
  isCopyWith,
  limitsOf,
  ownerOf,
  type Refused,
  refused,
  refusedWrite,
  type StoreCopiesOptions,
} from "./use-copy.ts";

/** What {@link createCopy} needs. */
export interface CreateCopyOptions extends StoreCopiesOptions {
  /** The copies that this call has stored: the caches may not have them yet. */
  readonly created: CopySize[];
}

/** Stores a copy with this content of a ConfigMap, and returns its name. An equal copy that another client has stored meanwhile is used. */
export async function createCopy(
  workload: Workload,
  { namespace, name }: PinSource,
  from: ConfigMap | undefined,
  content: CopyContent,
  options: CreateCopyOptions,
): Promise<string | Refused> {
  const owner = ownerOf(workload);
  const data = copyData(from, content);
  const bytes = contentBytes(data);
  const known = new Map([...options.copiesIn(namespace), ...options.created].map((copy) => [copy.name, copy]));
  if (exceedsCopyLimit([...known.values()], bytes)) return refused(copyLimitText);
  for (const digits of [10, 20] as const) {
    const copy = copyName(name, content, digits);
    const body = copyObject({ namespace, name }, copy, { data, editor: editorOf(from), owner });
    try {
      const path = resourcePath(resources.configMaps, { namespace });
      const created = await options.client.request<ConfigMap>({
        method: "POST",
        path,
        query: { fieldManager },
        body,
        ...limitsOf(options),
      });
      options.created.push({ name: copy, bytes });
      // An admission plugin may have changed what is stored.
      if (isCopyWith(created, content)) return copy;
      return refused(`the stored copy ${quoted(copy)} differs from ConfigMap ${quoted(name)}`);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) return refusedWrite(`a copy of ConfigMap ${quoted(name)} cannot be stored`, refusal);
      if (!isAlreadyExists(error)) throw error;
      const found = await existingCopy(workload, { namespace, name }, content, options);
      if (found !== undefined) return found;
    }
  }
  return refused(`other objects have the names of the copies of ConfigMap ${quoted(name)}`);
}

/** The parts of a copy that its name does not decide. */
interface CopyParts {
  readonly data: Pick<ConfigMap, "data" | "binaryData">;
  /** The field manager that wrote the content; undefined if unknown. */
  readonly editor: string | undefined;
  readonly owner: OwnerReference | undefined;
}

/** Returns the object of a copy to create. */
export function copyObject(
  { namespace, name }: Pick<PinSource, "namespace" | "name">,
  copy: string,
  { data, editor, owner }: CopyParts,
): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace,
      name: copy,
      // Never a label of the source: a GitOps tool would take the copy as its own, and prune it.
      labels: { [pinnedCopyLabel]: "true" },
      annotations: { [copyOf]: name, ...(editor !== undefined && { [editedBy]: editor }) },
      ...(owner && { ownerReferences: [owner] }),
    },
    immutable: true,
    ...data,
  };
}

/** Returns who wrote the content of a ConfigMap or of a copy, as a field manager. The ConfigMap forgets this with its next edit. */
export function editorOf(from: ConfigMap | undefined): string | undefined {
  const { metadata = {} } = from ?? {};
  return metadata.labels?.[pinnedCopyLabel] === "true" ? metadata.annotations?.[editedBy] : contentEditedBy(metadata);
}
