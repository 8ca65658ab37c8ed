/**
 * Facts about the Blob behind a worker's script that the hook can only learn when the app creates
 * it: the Blob behind a blob: URL, because pages revoke a URL right after `new Worker(url)`, and
 * how its text begins, because only a request of the app could read a Blob synchronously.
 */
import type { Patches } from '../record/patches.ts';
import { firstWords, startsStrict } from '../protocol/strict-script.ts';
import { apply, construct, dataProperty } from '../record/reflect.ts';
import { NativeBlob, NativeURL } from './natives.ts';
import { convertOnce } from './script-address.ts';

const LOOKED_AT = 65536;
/** This many characters are enough to decide. No more of the app's text is stored. */
const KEPT = 64;
/** Stands for a part that isn't read. No directive contains this character. */
const UNKNOWN = '#';

export class BlobScripts {
  private readonly blobs = new Map<string, Blob>();
  /** Beginnings of Blobs: enough to decide whether the script is strict. */
  private readonly leads = new WeakMap<object, string>();

  /** Tracks Blobs, URL.createObjectURL, and revokeObjectURL. */
  install(patches: Patches): void {
    for (const name of ['Blob', 'File'] as const) {
      const native = globalThis[name];
      const parent = Object.getPrototypeOf(native) as object;
      const ours: typeof native = new Proxy(native, {
        // the native one of a property that the app has frozen: a Proxy must return the same
        getPrototypeOf: (target) =>
          parent === NativeBlob && Object.isExtensible(target) ? globalThis.Blob : parent,
        construct: (target, args: unknown[], newTarget) => {
          const blob = construct(target, args, newTarget === ours ? target : newTarget) as Blob;
          const lead = this.leadOf(args[0]);
          if (lead !== undefined) this.leads.set(blob, lead);
          return blob;
        },
      });
      patches.value(globalThis, name, () => ours);
      patches.value(native.prototype, 'constructor', () => ours);
    }
    patches.onRestore(() => this.blobs.clear()); // later revocations go unnoticed
    patches.method(NativeURL, 'createObjectURL', (native, self, args) => {
      const url = apply(native, self, args) as string;
      if (args[0] instanceof NativeBlob) this.blobs.set(url, args[0]);
      return url;
    });
    patches.method(NativeURL, 'revokeObjectURL', (native, self, args) => {
      convertOnce(args);
      this.blobs.delete(args[0] as string);
      return apply(native, self, args);
    });
  }

  /** The Blob behind a URL. */
  get(url: string): Blob | undefined {
    return this.blobs.get(url);
  }

  /**
   * Does the script begin with 'use strict'? undefined = not known here: the Blob is made of bytes,
   * or came from a response, a file, or another thread.
   */
  startsStrict(blob: Blob): boolean | undefined {
    const lead = this.leads.get(blob);
    return lead === undefined ? undefined : startsStrict(lead);
  }

  private leadOf(parts: unknown): string | undefined {
    if (!Array.isArray(parts)) return undefined;
    let text = '';
    for (let i = 0; i < parts.length && text.length < KEPT; i++) {
      // Blobs of data can have many parts
      const part = i < KEPT ? this.textOf(dataProperty(parts, i)) : undefined;
      text = firstWords(text + (part ?? UNKNOWN));
    }
    return text.slice(0, KEPT);
  }

  /** Bytes aren't read: apps also store data in Blobs, and reading it would slow them down. */
  private textOf(part: unknown): string | undefined {
    if (typeof part !== 'string') return this.leads.get(part as object);
    return part.length > LOOKED_AT ? part.slice(0, LOOKED_AT) + UNKNOWN : part;
  }
}
