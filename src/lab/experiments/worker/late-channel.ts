/**
 * wa-sqlite's IDBMirrorVFS and OPFSPermutedVFS announce a commit on a BroadcastChannel once IndexedDB has completed it. With
 * synchronous=normal they don't wait for that, so a connection that closes meanwhile has closed its channel, and postMessage throws in an
 * event handler, where nothing catches it. A closed connection has nothing to announce: its message is dropped here.
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
