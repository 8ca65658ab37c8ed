/** How many bytes a database may store, in files and in records of IndexedDB. */
export class Quota {
  private readonly sizes = new Map<string, number>();
  private used = 0;

  /** @param bytes that fit */
  constructor(private readonly bytes: number) {}

  /** A file or a record has this size from now on. @returns false, and nothing changes, where it grows beyond the quota */
  resize(name: string, size: number): boolean {
    const grown = size - (this.sizes.get(name) ?? 0);
    if (grown > 0 && this.used + grown > this.bytes) return false;
    this.sizes.set(name, size);
    this.used += grown;
    return true;
  }

  /** It is gone. @returns puts it back */
  remove(name: string): () => void {
    const size = this.sizes.get(name);
    if (size === undefined) return () => undefined;
    this.sizes.delete(name);
    this.used -= size;
    return () => this.put(name, size);
  }

  /** It has the size that it had, whatever the quota. @param size undefined: it was not there */
  put(name: string, size: number | undefined): void {
    this.used += (size ?? 0) - (this.sizes.get(name) ?? 0);
    if (size === undefined) this.sizes.delete(name);
    else this.sizes.set(name, size);
  }

  sizeOf(name: string): number | undefined {
    return this.sizes.get(name);
  }
}

/** The error of a browser whose storage is full. */
export const quotaError = (): DOMException =>
  new DOMException('The storage quota is used up, as the fault profile asks', 'QuotaExceededError');
