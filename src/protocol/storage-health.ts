/** The browser's report about a page's storage, for contexts that don't import traces. */
export { isStorageHealth, type StorageHealth } from '../event/storage-health.ts';
