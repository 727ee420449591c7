// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
// Each character can match in one way only, so that no text takes long to reject.
const subdomain = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/;

/** Limit of the name of an object, in characters. */
export const maxNameLength = 253;

/** Reports whether a text is a DNS label, such as the name of a Namespace or Service. */
export function isDnsLabel(text: string): boolean {
  return label.test(text);
}

/**
 * Reports whether a text is a DNS subdomain, such as the name of a ConfigMap, Secret or workload. The API server accepts any
 * text as a name in volumes of pod templates and in owner references. An object with such a name can never exist.
 */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= maxNameLength && subdomain.test(text);
}
