/** Mounts the viewer in a page: the panel, a tab, the Lab, and tests. */
import { mount, tick, unmount } from 'svelte';
import type { SessionApi, SessionPush } from '../../../protocol/session.ts';
import { startWorker } from '../../../protocol/workers.ts';
import type { Queries } from '../../../protocol/answers/queries.ts';
import type { ViewerHandle, ViewerHost } from '../host.ts';
import { ViewerModel } from '../model.ts';
import { viewerContext } from '../viewer-context.ts';
import App from './App.svelte';

/**
 * @param target an element that the viewer fills (it is positioned by its nearest positioned
 * ancestor) Sets `data-ready="true"` on the document element once the viewer takes input and has
 * looked for unsaved recordings.
 */
export function mountViewer(target: HTMLElement, host: ViewerHost): ViewerHandle {
  const store = startWorker<SessionApi<Queries>>(
    host.workerUrl,
    'vfscope store',
    (reason) => {
      const message = `vfscope's store stopped working: ${reason}. Reopen the panel.`;
      model.say('error', message);
      return new Error(message);
    },
    (push) => model.onPush(push as SessionPush),
  );
  const model = new ViewerModel(store.api as SessionApi<Queries>, host);
  const app = mount(App, { target, context: viewerContext(model) });
  void model
    .restoreSettings()
    .then(() => model.showFirstStats())
    .then(() => model.lookForSpools())
    .then(tick)
    .then(() => (document.documentElement.dataset.ready = 'true'));
  return {
    open: (file, name) => model.open(file, name),
    async openFrom(load, name) {
      await model.attempt(async () => model.open(await load(), name));
    },
    copy: () => model.copy(),
    async compareWith(file, name) {
      model.navigation.tab.set('compare');
      await model.compareWith(file, name);
    },
    destroy() {
      model.destroy();
      store.end(null);
      void unmount(app);
      delete document.documentElement.dataset.ready;
    },
  };
}
