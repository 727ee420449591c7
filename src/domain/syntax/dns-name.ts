// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
// Written so that each character can be taken in one way only: then no text is slow to refuse.
const subdomain = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/;
const longestSubdomain = 253;

/** Whether a text is a DNS label, as the names of namespaces and Services are. */
export function isDnsLabel(text: string): boolean {
  return label.test(text);
}

/**
 * Whether a text is a DNS subdomain, as the names of ConfigMaps, Secrets and workloads are. The API server lets a volume
 * of a pod template or an owner reference name anything at all, also with slashes and spaces; nothing of such a name will
 * ever exist.
 */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= longestSubdomain && subdomain.test(text);
}
