/**
 * Scripts that run our hook before the app's worker script: for a network worker a blob that imports both, for a worker from a
 * Blob the hook in front of the Blob's own text (which needs worker-src only, as the app's worker does).
 */
import type { Patches } from '../probes/patch.ts';
import { capture } from './capture.ts';
import { createObjectURL, NativeBlob, NativeURL, revokeObjectURL } from './natives.ts';
import { workerHookSource, type WorkerEnvironment } from './source.ts';

/** The scripts of one wrapped worker. */
export interface Bootstrap {
  /** What the worker runs. */
  script: string;
  /** Every URL that is ours; revoked once the worker has loaded. */
  urls: string[];
  /** Lines of ours before the app's first: error positions in `script` are off by them. 0 when the app's script keeps its URL. */
  linesBefore: number;
}

const LOOKED_AT_BYTES = 65536;
/** A directive prologue that says strict: comments and blanks may stand before it. */
const STRICT = /^(?:\uFEFF|\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*(["'])use strict\1/;

/** Remembers the Blobs behind blob: URLs, because pages revoke a URL right after `new Worker(url)`. */
export class BlobUrls {
  private readonly blobs = new Map<string, Blob>();

  /** Follow URL.createObjectURL and revokeObjectURL. */
  install(patches: Patches): void {
    patches.method(NativeURL, 'createObjectURL', (native, self, args) => {
      const url = Reflect.apply(native, self, args) as string;
      if (args[0] instanceof NativeBlob) this.blobs.set(url, args[0]);
      return url;
    });
    patches.method(NativeURL, 'revokeObjectURL', (native, self, args) => {
      if (typeof args[0] === 'string') this.blobs.delete(args[0]);
      return Reflect.apply(native, self, args);
    });
  }
  get(url: string): Blob | undefined {
    return this.blobs.get(url);
  }
}

const scriptUrl = (...parts: BlobPart[]): string => createObjectURL(new NativeBlob(parts, { type: 'text/javascript' }));

/**
 * @param url absolute URL of the app's script @param blob its Blob when it is a blob: URL
 * @throws when the Blob cannot be read (a page policy): its strictness would be unknown
 */
export function bootstrap(url: string, blob: Blob | undefined, isModule: boolean, environment: WorkerEnvironment): Bootstrap {
  const hook = workerHookSource({ ...environment, capture });
  if (isModule) {
    // Both imports static: with a dynamic import of the app's script, messages that the page posts at once are lost.
    const hookUrl = scriptUrl(hook);
    const first = `import ${JSON.stringify(hookUrl)};`;
    const script = blob ? scriptUrl(first, blob) : scriptUrl(first, `import ${JSON.stringify(url)};`);
    return { script, urls: [script, hookUrl], linesBefore: 0 };
  }
  if (!blob) {
    const script = scriptUrl(`${hook}importScripts(${JSON.stringify(url)});`);
    return { script, urls: [script], linesBefore: 0 };
  }
  const script = scriptUrl(startsStrict(blob) ? '"use strict";' : '', hook, '\n', blob); // so that columns stay right
  return { script, urls: [script], linesBefore: hook.split('\n').length };
}

/** Does the script begin with 'use strict'? Our prefix would push it off its place. Read synchronously, as the constructor is. */
function startsStrict(blob: Blob): boolean {
  const url = createObjectURL(blob.slice(0, LOOKED_AT_BYTES));
  try {
    const request = new XMLHttpRequest();
    request.open('GET', url, false);
    request.send();
    return STRICT.test(request.responseText);
  } finally {
    revokeObjectURL(url);
  }
}
