/** What the browser says of a page's storage, for contexts that import no trace. */
export { isStorageHealth, type StorageHealth } from '../event/storage-health.ts';
