/** Safari's build, as its manifest says, and what it needs done in another way. */
import { api } from './extension-api.ts';

type Settings = { browser_specific_settings?: { safari?: object } };

/** The build for Safari: ports carry JSON only, and no port of a page is handed over. */
export const isSafariBuild = (): boolean =>
  (api.runtime.getManifest() as Settings).browser_specific_settings?.safari !== undefined;
