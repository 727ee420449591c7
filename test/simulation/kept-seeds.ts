/** Seeds that once failed, by what was wrong then; each plays the whole of it again. */
export const keptSeeds: readonly { readonly seed: number; readonly name: string }[] = [];
