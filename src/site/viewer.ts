/**
 * The viewer as a page for any web server: drop a trace on it, or name one with `?url=`; `?example`
 * opens the included example. With `&once`, the page isn't cached. Traces are read in this tab.
 * Nothing is uploaded.
 */
import { mountViewer } from '../viewer/ui/shell/mount.ts';
import { EXAMPLE_NAME } from '../viewer/ui/model.ts';
import { saveFile } from '../viewer/ui/save-file.ts';
import { fetchTrace, nameIn } from './fetch-trace.ts';

const SETTINGS = 'vfscope.settings';
const settings = (): Record<string, unknown> => {
  try {
    return JSON.parse(localStorage.getItem(SETTINGS) ?? '{}') as Record<string, unknown>;
  } catch {
    return {}; // this page has no storage, or the text isn't ours
  }
};
const example = (): Promise<Blob> => fetchTrace('example.vfst');

const viewer = mountViewer(document.body, {
  recorder: null,
  theme: 'auto',
  spoolKey: 'site',
  workerUrl: 'store-worker.js',
  settings: {
    read: () => Promise.resolve(settings()),
    write(values) {
      localStorage.setItem(SETTINGS, JSON.stringify({ ...settings(), ...values }));
      return Promise.resolve();
    },
  },
  example,
  saveFile,
});

const asked = new URLSearchParams(location.search);
const url = asked.get('url');
if (url !== null) void viewer.openFrom(() => fetchTrace(url), nameIn(url));
else if (asked.has('example')) void viewer.openFrom(example, EXAMPLE_NAME);

// caches the page for offline use, except when `vfscope open` serves it at a one-time address
if ('serviceWorker' in navigator && !asked.has('once'))
  navigator.serviceWorker.register('offline.js').catch((e: unknown) => {
    console.warn("vfscope: this page won't open offline:", e);
  });
