/**
 * Adds the panel to DevTools. The tab's id in the panel's URL says whose panel it is. Paths begin with a slash: without it Chromium
 * counts them from the extension, Firefox from this page.
 */
import { api } from '../platform/extension-api.ts';

void api.devtools.panels.create(
  'vfscope',
  '/icons/icon-16.png',
  `/devtools/panel.html?tab=${api.devtools.inspectedWindow.tabId}`,
);
