/**
 * The layout of a table's columns: in the user's order and widths, otherwise as wide as their
 * longest text, and without the last ones if they don't fit.
 */
import { arranged, cellText, moved, withoutRoom, type Column } from './columns.ts';
import type { Positions } from './positions.ts';
import type { Measures } from './text-width.ts';

interface Given<Row> {
  columns: () => readonly Column<Row>[];
  /** Key of the column that sorts. It is never hidden. */
  sortedBy: () => string;
  /** Rows whose texts determine the widths: a sample of all, and those on screen. */
  sample: () => readonly Row[];
  visible: () => readonly Row[];
  /** No column is hidden: all can be scrolled to. */
  scrolls: () => boolean;
}

/**
 * Minimum width of the column that takes the rest: by default, and if all columns are shown, px.
 */
const [FLEXIBLE, READABLE] = [150, 220];
/**
 * In a table of such a width, the column that takes the rest gets this much before the last columns
 * get theirs, px.
 */
const wished = (px: number): number =>
  Math.max(FLEXIBLE, Math.min(READABLE, 0.4 * px), Math.round(0.3 * px));
/** Minimum width of a column, and maximum of an automatic width, px. */
const [NARROWEST, WIDEST] = [40, 420];
/** Width of a cell besides its text, px; a heading also has the sort arrow. */
const [PADDING, ARROW] = [17, ' ▾'];
/**
 * Width of a scroll bar, px, reserved even if there is none, so that scroll bars don't depend on
 * each other; width of the button for hidden columns.
 */
const [SCROLL_BAR, MENU] = [16, 30];
const ALL = 'all';

export class ColumnLayout<Row> {
  /** Width of the table, px; 0 = not known yet. */
  width = $state(0);
  measures = $state.raw<Measures | null>(null);
  readonly #given: Given<Row>;
  readonly #positions: Positions | undefined;
  readonly #name: string;
  /** Widths that the user set, px; stored as `key:px`. */
  #widths = $state<Record<string, number>>({});
  /** The user's order, as keys; [] = the default. */
  #wanted = $state.raw<readonly string[]>([]);
  #all = $state(false);

  /** @param name of the table, for stored settings */
  constructor(name: string, positions: Positions | undefined, given: Given<Row>) {
    this.#given = given;
    this.#positions = positions;
    this.#name = name.replaceAll('-', '');
    for (const one of positions?.getList(`widths.${this.#name}`) ?? []) {
      const [key, px] = one.split(':') as [string, string];
      if (Number(px) >= NARROWEST) this.#widths[key] = Number(px);
    }
    this.#wanted = positions?.getList(`columns.${this.#name}`) ?? [];
    this.#all = positions?.getList(`room.${this.#name}`)[0] === ALL;
  }

  /** All of them, in order. */
  readonly arranged = $derived.by(() => arranged(this.#given.columns(), this.#wanted));

  /**
   * Width of the longest text so far by column, px. It never shrinks, so that nothing moves while
   * other rows load.
   */
  readonly #longest = new Map<string, number>();
  /** @returns the changes, if one has grown */
  #look(rows: readonly Row[]): number {
    const { measures } = this;
    if (!measures) return 0;
    let sum = 0;
    for (const column of this.#given.columns()) {
      if (column.width !== undefined) continue;
      const measure = column.mono ? measures.code : measures.cell;
      let px = this.#longest.get(column.key) ?? measures.heading(column.title + ARROW);
      for (const row of rows) px = Math.max(px, measure(cellText(column, row)));
      this.#longest.set(column.key, px);
      sum += px;
    }
    return sum;
  }
  readonly #sampled = $derived.by(() => this.#look(this.#given.sample()));
  readonly #seen = $derived.by(() => this.#look(this.#given.visible()));

  /** As CSS tracks, without the user's widths. The first number is the minimum, px. */
  readonly #own = $derived.by((): ReadonlyMap<string, string> => {
    void [this.#sampled, this.#seen];
    const trackOf = ({ key, width }: Column<Row>): string => {
      if (width === '1fr') return `minmax(${this.#all ? READABLE : FLEXIBLE}px, 1fr)`;
      const px = Math.min(WIDEST, Math.ceil((this.#longest.get(key) ?? 72) + PADDING));
      return width ?? `${px}px`;
    };
    return new Map(this.arranged.map((column) => [column.key, trackOf(column)]));
  });

  /** Those that don't fit. A column that the user widens hides none: the table scrolls. */
  readonly lacking = $derived.by((): readonly Column<Row>[] => {
    const px = this.width - SCROLL_BAR;
    if (this.width === 0 || this.#given.scrolls()) return [];
    const tracks = this.arranged.map(({ key, width }) => {
      const own = width === '1fr' ? wished(px) : leastOf(this.#own.get(key)!);
      const flexible = width?.includes('fr') ?? false;
      return { key, flexible, px: Math.min(this.#widths[key] ?? Infinity, own) };
    });
    const out = withoutRoom(tracks, px, MENU, this.#given.sortedBy());
    return this.arranged.filter(({ key }) => out.has(key));
  });
  readonly shown = $derived.by((): readonly Column<Row>[] =>
    this.#all || !this.lacking.length
      ? this.arranged
      : this.arranged.filter((column) => !this.lacking.includes(column)),
  );
  readonly #tracks = $derived.by(() => [
    ...this.shown.map(({ key }) =>
      this.#widths[key] ? `${this.#widths[key]}px` : this.#own.get(key)!,
    ),
    ...(this.lacking.length ? [`${MENU}px`] : []),
  ]);
  /** As CSS; minimum width, px. */
  readonly tracks = $derived(this.#tracks.join(' '));
  readonly least = $derived(this.#tracks.reduce((sum, track) => sum + leastOf(track), 0));

  /** Whether columns that don't fit are shown, too. */
  get all(): boolean {
    return this.#all;
  }
  set all(next: boolean) {
    this.#all = next;
    this.#positions?.setList(`room.${this.#name}`, next ? [ALL] : []);
  }

  /** @param px null = the automatic width */
  resize(key: string, px: number | null): void {
    if (px === null) delete this.#widths[key];
    else this.#widths[key] = Math.max(NARROWEST, Math.round(px));
  }
  /** The user released a border. */
  storeWidths(): void {
    const all = Object.entries(this.#widths).map(([key, px]) => `${key}:${px}`);
    this.#positions?.setList(`widths.${this.#name}`, all);
  }
  /** Moves a column. @param to its index among the other visible ones */
  place(key: string, to: number): void {
    const keys = moved(keysOf(this.shown), key, to);
    this.#wanted = [...keys, ...keysOf(this.arranged).filter((one) => !keys.includes(one))];
    this.#positions?.setList(`columns.${this.#name}`, this.#wanted);
  }
}

const leastOf = (track: string): number => Number(/\d+/.exec(track)![0]);
const keysOf = (columns: readonly { key: string }[]): string[] => columns.map(({ key }) => key);
