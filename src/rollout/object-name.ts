// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
// Written so that each character can be taken in one way only: then no text is slow to refuse.
const subdomain = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/;
const longestSubdomain = 253;

/** Whether a namespace can be called this: a DNS label. */
export function isNamespaceName(text: string): boolean {
  return label.test(text);
}

/**
 * Whether a ConfigMap or Secret can be called this: a DNS subdomain. The API server lets a volume of a pod template name
 * anything at all, also with slashes and spaces; nothing of such a name will ever exist.
 */
export function isObjectName(text: string): boolean {
  return text.length <= longestSubdomain && subdomain.test(text);
}
