/** CRC-32 as zip and gzip have it. */
export function crc32(bytes: Uint8Array): number;
/** An archive whose bytes depend on names and contents only. */
export function zip(files: Iterable<[string, Uint8Array]>): Buffer;
