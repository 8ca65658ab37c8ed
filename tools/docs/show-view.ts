// For screenshots of the panel as users see it.
import type { Panel } from '../../src/drive/panel.ts';

/** Show a view and wait until it is drawn. */
export async function show(panel: Panel, view: string): Promise<void> {
  // by script, because a tab may be scrolled out of view
  await panel.frame.$eval(`[data-testid="tab-${view}"]`, (tab) => (tab as HTMLElement).click());
  await panel.frame.waitForFunction(() => !document.querySelector('[aria-busy="true"]'), {
    polling: 50,
  });
  // a screenshot, not a test: let canvases and transitions settle
  await new Promise((done) => setTimeout(done, 1500));
}
