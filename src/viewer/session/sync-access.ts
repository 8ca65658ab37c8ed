/** What we use of FileSystemSyncAccessHandle, which TypeScript knows in its worker library only. */
export interface SyncAccessHandle {
  write(bytes: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}
export type SyncFileHandle = FileSystemFileHandle & {
  createSyncAccessHandle(): Promise<SyncAccessHandle>;
};
