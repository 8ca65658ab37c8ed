/** Files of our own package. These requests never leave the extension. */
import { api } from './extension-api.ts';

/** @param path in the package @throws where it is missing */
export async function ownFile(path: string): Promise<Blob> {
  const answer = await fetch(api.runtime.getURL(path));
  if (!answer.ok) throw new Error(`${path} is missing from this extension. Install it again.`);
  return answer.blob();
}
