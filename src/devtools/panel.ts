/**
 * The panel: a thin shell around the viewer. `?tab=<id>` records that tab, as a DevTools panel or
 * as a separate tab. Without it, the viewer only opens files; with `?example` it opens the example
 * at once.
 */
import { api } from '../platform/extension-api.ts';
import { hasPerformancePanel, showMarks, watchProfiling } from '../platform/performance-panel.ts';
import { ownFile } from '../platform/own-file.ts';
import { watchInspectedOrigin } from '../platform/inspected-page.ts';
import { offerTrace } from '../protocol/panel-trace.ts';
import { mountViewer } from '../viewer/ui/shell/mount.ts';
import type { ViewerHost } from '../viewer/ui/host.ts';
import { EXAMPLE_NAME } from '../viewer/ui/model.ts';
import { siteName } from '../viewer/ui/site-name.ts';
import { saveFile } from '../viewer/ui/save-file.ts';
import { recordTab } from './recorder.ts';

const asked = new URLSearchParams(location.search);
const tab = asked.get('tab');
const example = (): Promise<Blob> => ownFile('devtools/example.vfst');

/** DevTools has its own theme; a tab follows the system. */
function theme(): ViewerHost['theme'] {
  if (!api.devtools?.panels) return 'auto';
  return api.devtools.panels.themeName === 'dark' ? 'dark' : 'light';
}

/** The Lab asks this panel for its trace under this key. */
const traceKey = crypto.randomUUID();

const viewer = mountViewer(document.body, {
  recorder: tab === null ? null : recordTab(Number(tab)),
  theme: theme(),
  spoolKey: tab === null ? 'files' : `tab-${tab}`,
  workerUrl: api.runtime.getURL('devtools/store-worker.js'),
  settings: {
    read: () => api.storage.local.get(null),
    write: (values) => api.storage.local.set(values),
  },
  lab: (experiment, rule) =>
    api.runtime.getURL(
      `lab/lab.html?try=${encodeURIComponent(experiment)}&rule=${encodeURIComponent(rule)}&trace=${traceKey}`,
    ),
  replayInLab: api.runtime.getURL(`lab/lab.html?trace=${traceKey}`),
  ...(tab === null
    ? {}
    : { copyToLab: api.runtime.getURL(`lab/lab.html?page=${encodeURIComponent(tab)}`) }),
  ...(api.devtools?.panels
    ? {
        performancePanel: hasPerformancePanel() ? { watch: watchProfiling, show: showMarks } : null,
      }
    : {}),
  example,
  saveFile,
});
if (asked.has('example')) void viewer.openFrom(example, EXAMPLE_NAME);
// the panel's own window is one of several
if (tab !== null && !api.devtools?.panels)
  watchInspectedOrigin(Number(tab), (origin) => {
    document.title = origin ? `vfscope: ${siteName(origin)}` : 'vfscope';
  });
offerTrace(traceKey, () => viewer.copy());
