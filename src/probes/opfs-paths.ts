/** What the OPFS probes share: the paths of handles. */
import type { ProbeContext } from './context.ts';

/**
 * Paths of handles, and ids of paths; shared by the OPFS probes. '' is the root, '/dir/a.db' a
 * file.
 */
export class OpfsPaths {
  private readonly paths = new WeakMap<object, string>();
  constructor(private readonly context: ProbeContext) {}

  learn(handle: unknown, path: string): void {
    if (typeof handle === 'object' && handle !== null) this.paths.set(handle, path);
  }
  /** '?' for an object that isn't a handle: the platform is about to reject the call's promise. */
  of(handle: FileSystemHandle | undefined): string {
    return (handle && this.paths.get(handle)) ?? (handle ? `?/${handle.name}` : '?');
  }
  /** Id of the `opfs-file` definition of a path. */
  idOf(path: string): number {
    const { recorder } = this.context;
    return this.context.id('opfs-file', path, () =>
      recorder.define({ kind: 'opfs-file', path: path || '/' }),
    );
  }
}
