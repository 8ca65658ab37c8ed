// For pictures of the panel that are taken as its users see it.
import type { Panel } from '../../src/drive/panel.ts';

/** Show a view and wait until it is drawn. */
export async function show(panel: Panel, view: string): Promise<void> {
  // by script: a tab may be scrolled out of sight
  await panel.frame.$eval(`[data-testid="tab-${view}"]`, (tab) => (tab as HTMLElement).click());
  await panel.frame.waitForFunction(() => !document.querySelector('[aria-busy="true"]'), {
    polling: 50,
  });
  await new Promise((done) => setTimeout(done, 1500)); // a picture, not a test: canvases and transitions settle
}
