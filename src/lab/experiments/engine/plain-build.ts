/**
 * A single wasm file of SQLite, from anywhere: checks before it runs, the same on the page and in
 * the command.
 */
import type { Build } from './builds.ts';
import { apiOfRaw, notExported, plainFactory, unsatisfied } from './plain-loader.ts';

/** Maximum size of a wasm file. The largest known build has 3.6 MiB. */
export const MOST_WASM_BYTES = 64 * 2 ** 20;

export const tooLarge = (bytes: number, name: string): string =>
  `${name} has ${Math.ceil(bytes / 2 ** 20)} MiB: vfscope takes a wasm file of up to ${MOST_WASM_BYTES / 2 ** 20}`;

const message = (e: unknown): string => (e instanceof Error ? e.message : String(e));
const fewNames = (names: readonly string[]): string =>
  names.length > 5
    ? `${names.slice(0, 5).join(', ')}, and ${names.length - 5} more`
    : names.join(', ');

/** `\0asm`, which a wasm file begins with. */
const MAGIC = [0x00, 0x61, 0x73, 0x6d];

/**
 * Checks it without running it.
 * @param name for messages
 * @throws Error with the cause where it isn't a wasm file or is too large
 */
export async function compiledWasm(
  bytes: Uint8Array<ArrayBuffer>,
  name: string,
): Promise<WebAssembly.Module> {
  if (bytes.byteLength > MOST_WASM_BYTES) throw new Error(tooLarge(bytes.byteLength, name));
  if (!MAGIC.every((byte, i) => bytes[i] === byte))
    throw new Error(`${name} isn't a wasm file: it doesn't begin as one does`);
  try {
    return await WebAssembly.compile(bytes);
  } catch (e) {
    throw new Error(`${name} can't be compiled: ${message(e)}`, { cause: e });
  }
}

/** The name of a file without a package in a result. @param file its name */
export async function sourceOfFile(
  bytes: Uint8Array<ArrayBuffer>,
  file: string,
): Promise<Build['source']> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = [...hash.subarray(0, 6)].map((byte) => byte.toString(16).padStart(2, '0'));
  return { package: file, version: `SHA-256 ${hex.join('')}` };
}

/** Imports that can't be provided. @param name for the message @returns '' = none */
export function missingImports(module: WebAssembly.Module, name: string): string {
  const missing = unsatisfied(module);
  return missing.length
    ? `${name} imports ${fewNames(missing)}, which vfscope doesn't provide`
    : '';
}

/**
 * @param wasm the key for its bytes
 * @param name for messages
 * @throws Error naming the missing imports or exports
 */
export function plainBuild(
  [bytes, module]: readonly [Uint8Array<ArrayBuffer>, WebAssembly.Module],
  wasm: string,
  source: Build['source'],
  name: string,
): Build {
  const missing = missingImports(module, name);
  if (missing) throw new Error(missing);
  const lacks = notExported(module);
  if (lacks.length) throw new Error(`${name} doesn't export ${fewNames(lacks)}`);
  return {
    ...{ generation: 2, wasm, source },
    load: () => Promise.resolve({ factory: plainFactory(bytes), api: apiOfRaw }),
  };
}
