/** The worker in which sqlite.org's VFSs `opfs` and `opfs-wl` store, on a device with faults. */
import './accept-faults.ts';

declare function importScripts(...urls: string[]): void;

importScripts('sqlite3-opfs-async-proxy.js');
