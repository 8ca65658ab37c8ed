/**
 * The columns of a table as they stand: in the user's order, as wide as the user wants them, else as wide as their longest text, and without
 * the late ones that don't fit.
 */
import { arranged, cellText, moved, withoutRoom, type Column } from './columns.ts';
import type { Positions } from './positions.ts';
import type { Measures } from './text-width.ts';

interface Given<Row> {
  columns: () => readonly Column<Row>[];
  /** Key of the column that sorts: it stays. */
  sortedBy: () => string;
  /** Rows whose texts decide how wide columns are: some of all, and those on screen. */
  sample: () => readonly Row[];
  visible: () => readonly Row[];
  /** No column is left out: all can be scrolled to. */
  scrolls: () => boolean;
}

/** px: what takes the rest gets no narrower, nor where all columns are shown. */
const [FLEXIBLE, READABLE] = [150, 220];
/** What takes the rest has this before late columns have theirs, of a table so wide, px. */
const wished = (px: number): number =>
  Math.max(FLEXIBLE, Math.min(READABLE, 0.4 * px), Math.round(0.3 * px));
/** px: a column gets no narrower; one that is as wide as its texts no wider. */
const [NARROWEST, WIDEST] = [40, 420];
/** px of a cell beside its text; a heading also has the arrow of the order. */
const [PADDING, ARROW] = [17, ' ▾'];
/** px: a scroll bar, whether there is one or not, so that none decides about another; the button of the columns that are left out. */
const [SCROLL_BAR, MENU] = [16, 30];
const ALL = 'all';

export class ColumnLayout<Row> {
  /** px: the table, 0 = not known yet. */
  width = $state(0);
  measures = $state.raw<Measures | null>(null);
  readonly #given: Given<Row>;
  readonly #positions: Positions | undefined;
  readonly #name: string;
  /** What the user gave a column, px; stored as `key:px`. */
  #widths = $state<Record<string, number>>({});
  /** The user's order, as keys; [] = as they come. */
  #wanted = $state.raw<readonly string[]>([]);
  #all = $state(false);

  /** @param name of the table, for what is stored of it */
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

  /** px of the longest text so far by column. It never shrinks: nothing moves while other rows come. */
  readonly #longest = new Map<string, number>();
  /** @returns what changes where one has grown */
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

  /** As CSS tracks, without the user's widths; the first number is what each takes at least, px. */
  readonly #own = $derived.by((): ReadonlyMap<string, string> => {
    void [this.#sampled, this.#seen];
    const trackOf = ({ key, width }: Column<Row>): string => {
      if (width === '1fr') return `minmax(${this.#all ? READABLE : FLEXIBLE}px, 1fr)`;
      const px = Math.min(WIDEST, Math.ceil((this.#longest.get(key) ?? 72) + PADDING));
      return width ?? `${px}px`;
    };
    return new Map(this.arranged.map((column) => [column.key, trackOf(column)]));
  });

  /** Those that don't fit. What the user makes wider puts none out: the table scrolls. */
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
  /** As CSS; px that they take at least. */
  readonly tracks = $derived(this.#tracks.join(' '));
  readonly least = $derived(this.#tracks.reduce((sum, track) => sum + leastOf(track), 0));

  /** Whether those without room are shown, too. */
  get all(): boolean {
    return this.#all;
  }
  set all(next: boolean) {
    this.#all = next;
    this.#positions?.setList(`room.${this.#name}`, next ? [ALL] : []);
  }

  /** @param px null = as wide as it was at first */
  resize(key: string, px: number | null): void {
    if (px === null) delete this.#widths[key];
    else this.#widths[key] = Math.max(NARROWEST, Math.round(px));
  }
  /** The user let go of a border. */
  storeWidths(): void {
    const all = Object.entries(this.#widths).map(([key, px]) => `${key}:${px}`);
    this.#positions?.setList(`widths.${this.#name}`, all);
  }
  /** Moves a column. @param to its place among the others that are shown */
  place(key: string, to: number): void {
    const keys = moved(keysOf(this.shown), key, to);
    this.#wanted = [...keys, ...keysOf(this.arranged).filter((one) => !keys.includes(one))];
    this.#positions?.setList(`columns.${this.#name}`, this.#wanted);
  }
}

const leastOf = (track: string): number => Number(/\d+/.exec(track)![0]);
const keysOf = (columns: readonly { key: string }[]): string[] => columns.map(({ key }) => key);
