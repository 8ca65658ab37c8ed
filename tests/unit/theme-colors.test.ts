// Hues are only used for activities. Everything else in the theme is gray, a state, or clickable.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TYPE_LEGEND, typeBackground } from '../../src/viewer/ui/views/files/page-columns.ts';

const THEME = readFileSync(
  join(import.meta.dirname, '../../src/viewer/ui/shell/Theme.svelte'),
  'utf8',
);
/** Custom properties that are colors, by theme. */
const colorsOf = (theme: 'vfscope' | 'dark'): Map<string, string> => {
  const block = new RegExp(`\\n  \\.${theme} \\{([^}]*)\\}`).exec(THEME)![1]!;
  return new Map(
    [...block.matchAll(/(--[a-z-]+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name!, hex!]),
  );
};
/** A color's chroma, 0..1, and its hue in degrees. */
function hueOf(hex: string): { chroma: number; hue: number } {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255) as [
    number,
    number,
    number,
  ];
  const most = Math.max(r, g, b);
  const chroma = most - Math.min(r, g, b);
  if (chroma === 0) return { chroma, hue: 0 };
  const sixth =
    most === r
      ? ((g - b) / chroma + 6) % 6
      : most === g
        ? (b - r) / chroma + 2
        : (r - g) / chroma + 4;
  return { chroma, hue: 60 * sixth };
}
const apart = (a: number, b: number): number => Math.min(Math.abs(a - b), 360 - Math.abs(a - b));

/** Above this, people see a color with a name. */
const COLORFUL = 0.25;
/** States, and clickable or selected elements. */
const STATES = /^--(accent|error|error-bg|warning|warning-bg|info-bg|record|bg-selected)$/;
const ACTIVITIES = /^--(activity-|statement)/;
/** Shades of an activity. */
const STRENGTHS = { '--journal': '--activity-write', '--reread': '--activity-read' } as const;

describe.each(['vfscope', 'dark'] as const)('the colors of %s', (theme) => {
  const colors = colorsOf(theme);

  it('are of activities, states, or nothing', () => {
    expect(colors.size).toBeGreaterThan(30);
    const others = [...colors].flatMap(([name, hex]) =>
      ACTIVITIES.test(name) ||
      STATES.test(name) ||
      name in STRENGTHS ||
      hueOf(hex).chroma <= COLORFUL
        ? []
        : [name],
    );
    expect(others).toEqual([]);
  });

  it('of a shade are those of its activity', () => {
    for (const [strength, activity] of Object.entries(STRENGTHS)) {
      const [a, b] = [colors.get(strength)!, colors.get(activity)!];
      expect(apart(hueOf(a).hue, hueOf(b).hue), strength).toBeLessThan(15);
    }
  });
});

it('page types differ by shade and stripes', () => {
  for (const { color } of TYPE_LEGEND) expect(color).toMatch(/^--(neutral|text|activity-none)/);
  expect(new Set(TYPE_LEGEND.map(typeBackground)).size).toBe(TYPE_LEGEND.length);
});
