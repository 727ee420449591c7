import type { Annotations } from "../references/annotations.ts";
import { boundedMemo } from "../syntax/json.ts";

/**
 * The annotations that were read while a workload was parsed. A patch tests all of them, so that it fails if one of them changed
 * since then.
 */
export interface AnnotationReads {
  /** The sorted names of the annotations that were read, whether present or not. */
  readonly names: readonly string[];
  /** The values of those that were present. */
  readonly values: Annotations;
}

/** Annotations that record which of them are read. */
interface RecordedAnnotations {
  readonly annotations: Annotations;
  /** Returns the reads so far. Keeps values of at most `maxLength` characters. */
  readonly reads: (maxLength?: number) => AnnotationReads;
}

/** Returns annotations that record the name of each annotation that is read. Listing all names is not a read. */
export function recordReads(annotations: Annotations): RecordedAnnotations {
  const names = new Set<string>();
  const recording = new Proxy(annotations, {
    get(target, name) {
      if (typeof name !== "string") return undefined;
      names.add(name);
      return Object.hasOwn(target, name) ? target[name] : undefined;
    },
  });
  return {
    annotations: recording,
    reads: (maxLength = Number.POSITIVE_INFINITY) => {
      const present = Object.entries(annotations).filter(
        ([name, value]) => names.has(name) && value.length <= maxLength,
      );
      return { names: sharedNames([...names].join("\n")), values: sharedValues(Object.fromEntries(present)) };
    },
  };
}

/** Returns the reads with only the values of at most `maxLength` characters. */
export function withShortValues({ names, values }: AnnotationReads, maxLength: number): AnnotationReads {
  return { names, values: Object.fromEntries(Object.entries(values).filter(([, text]) => text.length <= maxLength)) };
}

/** Thousands of workloads have the same few lists of names, and most have the same few short values. */
const sharedNames = boundedMemo(256, (text): readonly string[] => (text === "" ? [] : text.split("\n").sort()));
const sharedShortValues = boundedMemo(256, (json) => JSON.parse(json) as Annotations);

/** Limit of values that are shared, in characters of JSON. Longer values are rarely equal. */
const maxSharedLength = 200;

function sharedValues(values: Annotations): Annotations {
  const json = JSON.stringify(values);
  return json.length <= maxSharedLength ? sharedShortValues(json) : values;
}
