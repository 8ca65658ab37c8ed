// Made-up notes, always the same, with enough text for searches.

export const TAGS = ['garden', 'kitchen', 'reading', 'travel', 'work'];

const SUBJECTS = {
  garden: [
    'tomato seedlings',
    'the compost heap',
    'the rain barrel',
    'late frost',
    'the apple tree',
    'raised beds',
    'slugs',
  ],
  kitchen: [
    'sourdough starter',
    'plum jam',
    'lentil soup',
    'the cast iron pan',
    'pickled beetroot',
    'a slow roast',
    'cardamom buns',
  ],
  reading: [
    'the second chapter',
    'an essay on maps',
    'the library card',
    'a biography',
    'footnotes',
    'poems to learn by heart',
    'a long novel',
  ],
  travel: [
    'the night train',
    'packing list',
    'the ferry timetable',
    'a mountain hut',
    'the old harbour',
    'bicycle repairs',
    'border papers',
  ],
  work: [
    'the quarterly review',
    'a failing test',
    'the release checklist',
    'onboarding',
    'meeting minutes',
    'the budget',
    'slow queries',
  ],
};
const OPENINGS = [
  'Notes on',
  'Thoughts about',
  'Plan for',
  'What I learned from',
  'Questions about',
  'Remember:',
  'Second look at',
];
const SENTENCES = [
  'It took longer than expected, mostly because the weather turned.',
  'Ask Maria whether she still has the spare one from last year.',
  'Measured twice, and the numbers agree this time.',
  'The first attempt failed; the cause was a missing label.',
  'Keep this for the autumn, when there is more time.',
  'Three things to change: start earlier, write it down, and stop when tired.',
  'A neighbour suggested a simpler way, which worked at once.',
  'Cost so far: less than planned, though the last invoice is missing.',
  'Look up the old photographs before deciding anything.',
  'The second half is better than the first; read it again slowly.',
  'Nobody else seems to have this problem, so it is probably the cable.',
  'Bring water, a pencil, and the blue folder.',
  'Tried it with half the amount and could not tell the difference.',
  'This needs a quiet morning and a large table.',
];

/** @returns {{ title: string, body: string, tag: string, at: number }} note number `i`; `at` is milliseconds of the epoch before `now` */
export function sampleNote(i, now) {
  let state = (i + 1) * 2654435761;
  const pick = (list) => {
    // xorshift32: small, and the same everywhere
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return list[(state >>> 0) % list.length];
  };
  const tag = pick(TAGS);
  const subject = pick(SUBJECTS[tag]);
  const sentences = Array.from({ length: 3 + ((state >>> 5) % 6) }, () => pick(SENTENCES));
  const half = Math.ceil(sentences.length / 2);
  const body = `${sentences.slice(0, half).join(' ')}\n\nAbout ${subject}: ${sentences.slice(half).join(' ')}`;
  return {
    title: `${pick(OPENINGS)} ${subject}`,
    body,
    tag,
    at: now - (i + 1) * 3 * 3600e3 - ((state >>> 3) % 3600e3),
  };
}
