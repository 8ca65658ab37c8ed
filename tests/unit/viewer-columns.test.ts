// Which columns of a table fit, and what the menu of Events' columns shows about the others.
import { describe, expect, it } from 'vitest';
import { withoutRoom } from '../../src/viewer/ui/parts/columns.ts';
import { lackingRoom, shownColumns } from '../../src/viewer/ui/views/events/columns.ts';

const tracks = [
  { key: 'statement', px: 220, flexible: true },
  { key: 'time', px: 80, flexible: false },
  { key: 'reads', px: 60, flexible: false },
  { key: 'failed', px: 60, flexible: false },
];
const out = (px: number, sortedBy = '', of = tracks): string[] => [
  ...withoutRoom(of, px, 30, sortedBy),
];

describe("columns that don't fit", () => {
  it('are the last ones, and the note about them takes space, too', () => {
    expect(out(420)).toEqual([]);
    expect(out(419)).toEqual(['failed']);
    expect(out(390)).toEqual(['failed']);
    expect(out(389)).toEqual(['failed', 'reads']);
  });
  it('are never the sorted one, the first, or one that takes the remaining width', () => {
    expect(out(400, 'failed')).toEqual(['reads']);
    expect(out(10)).toEqual(['failed', 'reads', 'time']);
    expect(out(10, '', [tracks[1]!, tracks[0]!])).toEqual([]);
  });
});

describe('the columns of Events', () => {
  it('those of a wider panel are listed as not fitting, and selected ones always fit', () => {
    const narrow = shownColumns(null, true, true);
    const lacking = lackingRoom(null, true, narrow);
    expect(lacking).toEqual(['thread', 'detail', 'offset', 'length', 'statement']);
    expect(lackingRoom(null, false, narrow)).not.toContain('thread');
    expect(lackingRoom(null, true, shownColumns(null, true, false))).toEqual([]);
    expect(lackingRoom(['time'], true, shownColumns(['time'], true, true))).toEqual([]);
  });
});
