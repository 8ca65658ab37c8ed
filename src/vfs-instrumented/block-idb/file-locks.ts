/**
 * SQLite's lock levels for the connections of one thread (sqlite.org/lockingv3.html). A Web Lock
 * keeps other threads out.
 */
export const Level = { none: 0, shared: 1, reserved: 2, pending: 3, exclusive: 4 } as const;

export class FileLocks {
  private readonly held = new Map<number, number>();

  /** @param owner an open file @returns whether it now has that level; false = busy */
  lock(owner: number, level: number): boolean {
    const own = this.held.get(owner) ?? Level.none;
    if (own >= level) return true;
    const others = Math.max(
      Level.none,
      ...[...this.held].filter(([id]) => id !== owner).map(([, l]) => l),
    );
    if (level === Level.shared && others >= Level.pending) return false;
    if (level === Level.reserved && others >= Level.reserved) return false;
    if (level >= Level.pending && others >= Level.reserved) return false;
    if (level === Level.exclusive && others >= Level.shared) {
      this.held.set(owner, Level.pending); // keeps new readers out
      return false;
    }
    this.held.set(owner, level);
    return true;
  }

  unlock(owner: number, level: number): void {
    if (level === Level.none) this.held.delete(owner);
    else if (this.held.has(owner)) this.held.set(owner, level);
  }

  get reserved(): boolean {
    return [...this.held.values()].some((level) => level >= Level.reserved);
  }
}
