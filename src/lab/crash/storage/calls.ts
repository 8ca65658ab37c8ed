/**
 * The storage calls of a VFS that change something, with their bytes, in the order in which they
 * returned. Reads are left out.
 */
import { countOf } from '../../../text/numbers.ts';
import type { KeyRange, ValidKey } from './idb-keys.ts';

/** A change by one IndexedDB transaction. `store` is an object store's name. */
export type Change =
  | { readonly op: 'version'; readonly version: number }
  | { readonly op: 'create-store'; readonly store: string; readonly keyPath: KeyPath }
  | { readonly op: 'put'; readonly store: string; readonly key: ValidKey; readonly value: unknown }
  | { readonly op: 'delete'; readonly store: string; readonly range: KeyRange };
/** null: keys are passed separately. */
export type KeyPath = string | readonly string[] | null;

/** A file is identified by its OPFS path, without a leading slash. Offsets and sizes are bytes. */
export type FileCall =
  | {
      readonly kind: 'write';
      readonly file: string;
      readonly at: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'flush'; readonly file: string };
export type EntryCall = {
  readonly kind: 'create-file' | 'create-folder' | 'remove';
  readonly file: string;
};
/** An IndexedDB transaction at the moment when its `complete` event fires. */
export interface CommitCall {
  readonly kind: 'commit';
  readonly database: string;
  readonly durability: 'strict' | 'relaxed';
  readonly changes: readonly Change[];
}
export type Call = FileCall | EntryCall | CommitCall;

export interface Logged {
  readonly call: Call;
  /** What the workload was doing, such as `commit 3`. */
  readonly phase: string;
  /** The call as text, without its bytes. */
  readonly text: string;
}

/** The phase in which the VFS creates its files, before the first PRAGMA. */
export const OPENING = 'open';

/** The storage calls of a workload, and when each of its commits was acknowledged. */
export class StorageLog {
  readonly calls: Logged[] = [];
  /** For each acknowledged commit, in order: how many calls had returned by then. */
  readonly acknowledged: number[] = [];
  phase = OPENING;

  add(call: Call, name: string): void {
    this.calls.push({ call, phase: this.phase, text: callText(call, name) });
  }

  acknowledge(): void {
    this.acknowledged.push(this.calls.length);
  }

  /** How many commits were acknowledged before the call after the k-th. */
  acknowledgedAt(k: number): number {
    return this.acknowledged.filter((at) => at <= k).length;
  }
}

/** @param name of the file or the database, as users know it */
function callText(call: Call, name: string): string {
  switch (call.kind) {
    case 'write':
      return `write ${call.bytes.length} bytes at ${call.at} of ${name}`;
    case 'truncate':
      return `truncate ${name} to ${call.size} bytes`;
    case 'flush':
      return `flush ${name}`;
    case 'create-file':
      return `create file ${name}`;
    case 'create-folder':
      return `create folder ${name}`;
    case 'remove':
      return `remove ${name}`;
    case 'commit': {
      const count = (op: Change['op']): number => call.changes.filter((c) => c.op === op).length;
      return `commit ${name} (${call.durability}: ${countOf(count('put'), 'put')}, ${countOf(count('delete'), 'delete')})`;
    }
  }
}
