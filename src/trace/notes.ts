/**
 * Notes and bookmarks that users put on a trace. They are in a section of its file that other
 * readers skip. Data from a file isn't trusted: it is checked and limited.
 */

export interface TraceNote {
  /** Unique in this trace. */
  id: number;
  /** Microseconds; fromUs = toUs for a moment. */
  fromUs: number;
  toUs: number;
  /** '' for a bookmark without a text. */
  text: string;
}

export const MAX_NOTES = 1000;
const MAX_NOTE_CHARS = 4000;

/** The valid notes of a list, in order of time, with new ids. */
export function checkedNotes(list: unknown): TraceNote[] {
  if (!Array.isArray(list)) return [];
  const notes: TraceNote[] = [];
  for (const item of list.slice(0, MAX_NOTES) as unknown[]) {
    if (typeof item !== 'object' || item === null) continue;
    const { fromUs, toUs, text } = item as Record<string, unknown>;
    if (
      typeof fromUs !== 'number' ||
      typeof toUs !== 'number' ||
      !Number.isFinite(fromUs) ||
      !Number.isFinite(toUs)
    )
      continue;
    notes.push({
      id: 0,
      fromUs: Math.min(fromUs, toUs),
      toUs: Math.max(fromUs, toUs),
      text: typeof text === 'string' ? text.slice(0, MAX_NOTE_CHARS) : '',
    });
  }
  notes.sort((a, b) => a.fromUs - b.fromUs);
  notes.forEach((note, i) => (note.id = i + 1));
  return notes;
}

/**
 * How a user has arranged the timeline's lanes, stored with the trace. Keys are the timeline's own
 * names.
 */
export interface LaneSetup {
  hidden: string[];
  pinned: string[];
  order: string[];
}
export interface Annotations {
  notes: TraceNote[];
  lanes: LaneSetup;
}
export const noAnnotations = (): Annotations => ({
  notes: [],
  lanes: { hidden: [], pinned: [], order: [] },
});

const MAX_KEYS = 500;
const keys = (list: unknown): string[] =>
  Array.isArray(list)
    ? (list as unknown[])
        .slice(0, MAX_KEYS)
        .filter((key): key is string => typeof key === 'string' && key.length < 40)
    : [];

/** The usable part of a section's content. */
export function checkedAnnotations(content: Record<string, unknown>): Annotations {
  const lanes = (
    typeof content.lanes === 'object' && content.lanes !== null ? content.lanes : {}
  ) as Record<string, unknown>;
  return {
    notes: checkedNotes(content.notes),
    lanes: { hidden: keys(lanes.hidden), pinned: keys(lanes.pinned), order: keys(lanes.order) },
  };
}
export const hasAnnotations = ({ notes, lanes }: Annotations): boolean =>
  notes.length + lanes.hidden.length + lanes.pinned.length + lanes.order.length > 0;
