/** Returns the arguments of a command of Wave for an object, whatever the current namespace of its reader is: `deployment/web -n shop`. */
export function waveArguments(object: {
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}): string {
  return `${object.kind.toLowerCase()}/${object.name} -n ${object.namespace}`;
}
