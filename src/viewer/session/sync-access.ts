/**
 * The part of FileSystemSyncAccessHandle that we use. TypeScript has it only in its worker library.
 */
export interface SyncAccessHandle {
  write(bytes: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}
export type SyncFileHandle = FileSystemFileHandle & {
  createSyncAccessHandle(): Promise<SyncAccessHandle>;
};
