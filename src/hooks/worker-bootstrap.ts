/**
 * Scripts that run our hook before the app's worker script. For a network worker, a blob that
 * imports both; for a worker from a Blob, the hook in front of the Blob's text (which needs only
 * worker-src, as the app's worker does).
 */
import { capture, scripts } from './capture.ts';
import { createObjectURL, NativeBlob } from './natives.ts';
import { hookText, workerHookSource, type WorkerEnvironment } from './source.ts';

/** The scripts of one wrapped worker. */
export interface Bootstrap {
  /** URL of the worker's script. */
  script: string;
  /** All our URLs, revoked once the worker has loaded. */
  urls: string[];
  /**
   * Our lines before the app's first line: error positions in `script` are off by this number. 0
   * when the app's script has its own URL.
   */
  linesBefore: number;
  /** The hook's script imports the app's and reports afterwards that it runs. */
  imports: boolean;
}

const JAVASCRIPT = 'text/javascript';
const scriptUrl = (...parts: BlobPart[]): string =>
  createObjectURL(new NativeBlob(parts, { type: JAVASCRIPT }));

/**
 * The hook and its lines, for all workers of this thread: the browser has the text after the first
 * one.
 */
let ours: Blob | undefined;
let lines: number;

/**
 * @param url absolute URL of the app's script
 * @param blob its Blob when it is a blob: URL
 * @param strict whether the Blob's text begins with 'use strict', which our prefix would displace;
 * undefined = not known
 */
export function bootstrap(
  url: string,
  blob: Blob | undefined,
  strict: boolean | undefined,
  isModule: boolean,
  environment: WorkerEnvironment,
): Bootstrap {
  if (!ours) {
    const text = hookText(scripts);
    lines = text.split('\n').length;
    ours = new NativeBlob([text]);
  }
  const hook = (then?: string): BlobPart[] =>
    workerHookSource({ ...environment, capture }, ours!, then);
  if (isModule) {
    // Both imports are static: with a dynamic import of the app's script, messages that the page
    // posts at once are lost.
    const hookUrl = scriptUrl(...hook());
    const first = `import ${JSON.stringify(hookUrl)};`;
    // a module must have a script type: a module that fails natively fails here, too
    const script = blob
      ? createObjectURL(new NativeBlob([first, blob], { type: blob.type }))
      : scriptUrl(`${first}import ${JSON.stringify(url)};`);
    return { script, urls: [script, hookUrl], linesBefore: 0, imports: false };
  }
  if (blob && strict !== undefined) {
    // so that columns stay right
    const script = scriptUrl(strict ? '"use strict";' : '', ...hook(), '\n', blob);
    return { script, urls: [script], linesBefore: lines, imports: false };
  }
  // of the type that importScripts requires, and the app's own URL may be revoked by then
  const copy = blob && createObjectURL(blob.slice(0, blob.size, JAVASCRIPT));
  const script = scriptUrl(...hook(`importScripts(${JSON.stringify(copy ?? url)});e.runs()`));
  return { script, urls: copy ? [script, copy] : [script], linesBefore: 0, imports: true };
}
