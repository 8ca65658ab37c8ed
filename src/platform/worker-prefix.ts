/**
 * Puts our hook in front of the first bytes of a worker's script. Line numbers and strict mode
 * don't change.
 */

import { filteredEnvironment, type CaptureOptions } from '../protocol/capture.ts';
import { firstWords, startsStrict } from '../protocol/strict-script.ts';

const COMMENT = /\/\*[^]*?\*\/|\/\/.*/g;
/** The app's script runs even if the recording fails. */
const FAILED = 'console.warn("vfscope: this worker cannot be recorded:",e)';
const IN_WORKER = 'if(typeof WorkerGlobalScope==="function"&&self instanceof WorkerGlobalScope)';

/**
 * @param start of the script, as bytes (workers' scripts are UTF-8)
 * @param hook text of a function that takes its environment
 * @param unsure a page could run this script, too: then the hook tests where it runs
 * @param capture what the recording captures
 * @param carried scripts to run before the hook, for optional captures
 * @returns what to write instead of `start`, part by part
 */
export function prefixed(
  start: Uint8Array,
  hook: string,
  unsure: boolean,
  capture: CaptureOptions,
  carried = '',
): Uint8Array[] {
  const at = afterHashbang(start);
  if (at === null) return [start];
  const strict = strictness(start.subarray(at)) ? '"use strict";' : '';
  const [before, environment] = filteredEnvironment(capture, carried);
  const prefix = new TextEncoder().encode(
    `${strict}${unsure ? IN_WORKER : ''}try{${before}(${hook})(${environment})}catch(e){${FAILED}}`,
  );
  return [start.subarray(0, at), prefix, start.subarray(at)].filter(
    ({ byteLength }) => byteLength > 0,
  );
}

/** This much of a script is enough to decide whether it is strict and where its first line ends. */
const LOOKED_AT = 65536;
/** Can more of the script change where the hook goes? */
export function isOpen(start: Uint8Array): boolean {
  const at = afterHashbang(start);
  return start.length < LOOKED_AT && (at === null || strictness(start.subarray(at)) === undefined);
}

/** undefined = not known from this part. */
function strictness(start: Uint8Array): boolean | undefined {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(start.subarray(0, LOOKED_AT));
  const first = firstWords(text);
  if (!first) return undefined;
  // a comment after the directive counts as a space or a line break
  const bare = first
    .slice(0, 1024)
    .replace(COMMENT, (comment) => (/[\n\r]/.test(comment) ? '\n' : ' '));
  return startsStrict(bare);
}

/**
 * A byte order mark and `#!` only count at the very start, so they stay there. null = the line of
 * `#!` doesn't end here, so there is no place for the hook.
 */
function afterHashbang(start: Uint8Array): number | null {
  const at = [0xef, 0xbb, 0xbf].every((byte, i) => start[i] === byte) ? 3 : 0;
  if (start[at] !== 0x23 || start[at + 1] !== 0x21) return at;
  const end = start.indexOf(0x0a);
  return end < 0 ? null : end + 1;
}
