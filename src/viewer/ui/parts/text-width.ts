/** The widths of a table's texts, px. */
import { getOrMake } from '../../../analysis/core/maps.ts';

type Measure = (text: string) => number;
/** Fonts of a table's headings, its cells, and its cells of code. */
export type Measures = Record<'heading' | 'cell' | 'code', Measure>;

/**
 * Maximum characters: of longer texts, which the traced page chose, only the beginning is measured.
 */
const MOST = 100;

/** @param font as of a canvas */
function measureIn(font: string): Measure {
  const g = document.createElement('canvas').getContext('2d')!;
  g.font = font;
  const known = new Map<string, number>();
  // digits are equally wide in a table, so numbers of one shape are measured once
  return (text) =>
    getOrMake(
      known,
      text.slice(0, MOST).replace(/\d/g, '0'),
      () => g.measureText(text.slice(0, MOST).replace(/\d/g, '0')).width,
    );
}

/** @param element the styled table */
export function measuresOf(element: Element): Measures {
  const style = getComputedStyle(element);
  const { fontSize, fontFamily } = style;
  return {
    heading: measureIn(`500 ${fontSize} ${fontFamily}`),
    cell: measureIn(`${fontSize} ${fontFamily}`),
    code: measureIn(`11px ${style.getPropertyValue('--mono')}`),
  };
}
