/**
 * A short key that two disks share only if they have the same content. Many crashes leave the same
 * state, and each state is recovered once.
 */
import type { Database, Disk } from './storage/disk.ts';

const hashes = new WeakMap<Uint8Array, string>();
const numbers = new WeakMap<Database, number>();
let databases = 0;

/** Two 32-bit hashes (FNV-1a and a different multiplication) over the bytes, which never change. */
function hashOf(bytes: Uint8Array): string {
  let text = hashes.get(bytes);
  if (text === undefined) {
    let [a, b] = [0x811c9dc5, 0x9e3779b9];
    for (let i = 0; i < bytes.length; i++) {
      a = Math.imul(a ^ bytes[i]!, 0x01000193);
      b = Math.imul(b ^ (bytes[i]! + i), 0x85ebca6b);
    }
    text = `${bytes.length}:${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
    hashes.set(bytes, text);
  }
  return text;
}

/**
 * States of an IndexedDB database are distinguished by the changes that led to them. These repeat
 * less often than the content.
 */
function numberOf(database: Database): number {
  let number = numbers.get(database);
  if (number === undefined) numbers.set(database, (number = ++databases));
  return number;
}

export const diskKey = (disk: Disk): string =>
  [
    ...[...disk.files].map(([path, bytes]) => `${path} ${hashOf(bytes)}`),
    ...disk.folders,
    ...[...disk.databases].map(([name, database]) => `${name} ${numberOf(database)}`),
  ]
    .sort()
    .join('\n');
