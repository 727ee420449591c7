import { type HashKey, type HashKeys, hashKey } from "../../../src/domain/policy/hash-key.ts";

/** Returns a key for tests, different for each number. */
export function testKey(number: number): HashKey {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(number);
  return hashKey(bytes);
}

/** Returns keys for tests: the current one, the previous one, and those that only the process remembers. */
export function testKeys(current: number, previous?: number, ...remembered: readonly number[]): HashKeys {
  return {
    current: testKey(current),
    previous: previous === undefined ? undefined : testKey(previous),
    remembered: remembered.map(testKey),
  };
}
