/**
 * Adds the panel to DevTools. The panel's URL has the tab's id. Paths begin with a slash, because
 * Chromium resolves others against the extension's root, Firefox against this page.
 */
import { api } from '../platform/extension-api.ts';

void api.devtools.panels.create(
  'vfscope',
  '/icons/icon-16.png',
  `/devtools/panel.html?tab=${api.devtools.inspectedWindow.tabId}`,
);
