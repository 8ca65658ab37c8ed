/**
 * Reads what `beginCopy` holds piece by piece, and takes the last look. Each function runs in the
 * page as text, so it uses nothing from outside its braces.
 */
import type { Held } from './begin.ts';

/** Bytes of what is held, as base64. */
export async function pieceOf(
  part: 'main' | 'wal',
  from: number,
  to: number,
): Promise<string | { refused: string }> {
  const held = (globalThis as unknown as { vfscopeCopy?: Held }).vfscopeCopy;
  const blob = held?.[part];
  if (!blob) return { refused: 'The page was reloaded or closed in the meantime.' };
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,/, ''));
    // a File is a snapshot: browsers refuse to read it after the file has changed
    reader.onerror = () =>
      resolve({
        refused:
          `It changed while it was copied (${reader.error?.message ?? 'it cannot be read'}).`.slice(
            0,
            1000,
          ),
      });
    reader.readAsDataURL(blob.slice(from, to));
  });
}

/** Release it. @returns whether it is unchanged since the copy began: `{ same }` */
export async function checkCopy(): Promise<{ same: boolean }> {
  const place = globalThis as unknown as { vfscopeCopy?: Held };
  const held = place.vfscopeCopy;
  delete place.vfscopeCopy;
  if (!held) return { same: false };
  return { same: held.state === null || (await held.state()) === held.before };
}
