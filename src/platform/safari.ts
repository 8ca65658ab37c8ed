/** Detects Safari's build by its manifest. It differs in a few ways. */
import { api } from './extension-api.ts';

type Settings = { browser_specific_settings?: { safari?: object } };

/** The build for Safari: ports carry only JSON, and ports of a page can't be handed over. */
export const isSafariBuild = (): boolean =>
  (api.runtime.getManifest() as Settings).browser_specific_settings?.safari !== undefined;
