/**
 * Files of our own package. Only this file of the Lab fetches, and only from the extension itself.
 */

/** Bytes of `lab/wasm/<name>` for a wasm file's path in its npm package. @throws naming the file */
export async function ownWasm(packagePath: string): Promise<Uint8Array<ArrayBuffer>> {
  const url = new URL(`wasm/${packagePath.replace(/^@/, '').replaceAll('/', '-')}`, location.href);
  if (url.origin !== location.origin)
    throw new Error(`${url.href} is not a file of this extension`);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url.pathname} is missing from this extension`);
  return new Uint8Array(await answer.arrayBuffer());
}
