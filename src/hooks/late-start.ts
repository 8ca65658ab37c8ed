/**
 * A hook that starts in a running page (Record without a reload) can't see what ran before. The
 * user gets a note.
 */
import { NATIVES_DRIVEN, says } from './source.ts';
import type { Recorder } from '../record/recorder.ts';

/** Add a note about what this recording lacks if scripts of this document ran before the hook. */
export function noteLateStart(recorder: Recorder): void {
  // at document_start, a web page is loading and has no script element yet; empty frames are
  // complete from the start
  const early = document.readyState === 'loading' && document.querySelector('script') === null; // of SVG, too
  if (early || !/^https?:$/.test(location.protocol)) return;
  const loaded = performance
    .getEntriesByType('resource')
    .map(({ name }) => name.replace(/[?#].*$/, '').replace(/^.*\//, ''));
  const engine = loaded.find((name) => /sql.*\.wasm$/i.test(name));
  // one of them imported the hook, before the others if set up correctly
  if (NATIVES_DRIVEN && says && !engine) return;
  const cause = engine
    ? `SQLite was loaded before the recording began (${engine}): its calls`
    : 'SQLite and workers that were running before the recording began';
  recorder.note(
    'late-start',
    `${cause} are not recorded. Reload the page while you record.`,
    location.href,
  );
}
