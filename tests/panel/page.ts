/**
 * The viewer in an ordinary tab, without the extension. The address sets what it shows:
 * `?open=<url>` a stored trace; `?live` a fake page that can be recorded; `theme=light|dark`,
 * `key=<spool key>`.
 */
import type { ViewerHandle, ViewerHost } from '../../src/viewer/ui/host.ts';
import { mountViewer } from '../../src/viewer/ui/shell/mount.ts';
import { SyntheticApp } from './synthetic-app.ts';

declare global {
  interface Window {
    panel: {
      viewer: ViewerHandle;
      app: SyntheticApp;
      saved: { name: string; data: Blob }[];
      download: boolean;
    };
  }
}

const query = new URLSearchParams(location.search);
const app = new SyntheticApp();
const theme = query.get('theme');
const saved: { name: string; data: Blob }[] = [];

const host: ViewerHost = {
  recorder: query.has('live') ? app.recorder : null,
  theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
  spoolKey: query.get('key') ?? 'tab',
  workerUrl: 'store-worker.js',
  settings: {
    read: () =>
      Promise.resolve(
        JSON.parse(localStorage.getItem('settings') ?? '{}') as Record<string, unknown>,
      ),
    write(values) {
      const kept = JSON.parse(localStorage.getItem('settings') ?? '{}') as Record<string, unknown>;
      localStorage.setItem('settings', JSON.stringify({ ...kept, ...values }));
      return Promise.resolve();
    },
  },
  saveFile(name, data) {
    saved.push({ name, data });
    if (!window.panel.download) return Promise.resolve();
    const link = document.createElement('a');
    link.href = URL.createObjectURL(data);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    return Promise.resolve();
  },
};
const viewer = mountViewer(document.body, host);
window.panel = { viewer, app, saved, download: !query.has('test') };

const source = query.get('open');
if (source !== null) {
  const answer = await fetch(source);
  if (!answer.ok) throw new Error(`${source}: ${answer.status} ${answer.statusText}`);
  await viewer.open(await answer.blob(), source.split('/').at(-1) ?? source);
}
// a running recording creates something to look at
if (query.has('live') && !query.has('test')) setInterval(() => app.recording && app.work(40), 200);
if (query.has('watch')) new EventSource('/rebuilt').onmessage = () => location.reload();
