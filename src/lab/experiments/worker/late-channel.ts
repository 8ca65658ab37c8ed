/**
 * wa-sqlite's IDBMirrorVFS and OPFSPermutedVFS announce a commit on a BroadcastChannel after
 * IndexedDB has completed it. With synchronous=normal they don't wait for that. If a connection
 * closes in the meantime, it has closed its channel, and postMessage throws in an event handler,
 * where nothing catches it. A closed connection has nothing to announce, so its message is dropped
 * here.
 */
export function withLateChannels(): () => void {
  const Native = globalThis.BroadcastChannel;
  class LateChannel extends Native {
    private over = false;
    override close(): void {
      this.over = true;
      super.close();
    }
    override postMessage(message: unknown): void {
      if (!this.over) super.postMessage(message);
    }
  }
  globalThis.BroadcastChannel = LateChannel;
  return () => {
    globalThis.BroadcastChannel = Native;
  };
}
