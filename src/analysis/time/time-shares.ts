/**
 * Sums the time while SQL runs by statement text, during a sweep: one place for each text, found by
 * the SQL call that a call serves.
 */
import type { EventColumns } from '../../trace/columns.ts';
import { Op } from '../../event/event.ts';
import { longer } from '../../trace/typed-arrays.ts';
import { ById } from '../core/by-id.ts';
import type { Owners } from '../../trace/owners.ts';
import { PARTS } from '../core/time-parts.ts';

/** Defines what a sweep sums time by: its places are statements, call paths, or anything else. */
export interface TimeKeeper {
  /** Nanoseconds and clock readings: `place * PARTS.length + part`. */
  readonly ns: Float64Array;
  readonly readings: Float64Array;
  /** By place: calls whose end isn't known. */
  readonly openEnds: number[];
  /** The place of a call. */
  placeOf(row: number): number;
  /**
   * The place of a moment.
   * @param winner the deciding call @param engine the SQL or VFS call that began last
   */
  placeAt(winner: number, engine: number): number;
}

/** Id of the text of an SQL call's statement; 0 = not known. Opening and closing have none. */
export function textOfSql({ op, object }: EventColumns, row: number): number {
  return op[row] === Op.sqlOpen || op[row] === Op.sqlClose ? 0 : object[row]!;
}

export class Shares implements TimeKeeper {
  /** Ids of `sql` definitions by place; 0 = statement not known. */
  readonly ids: number[] = [0];
  /** Nanoseconds and clock readings: `place * PARTS.length + part`. */
  ns: Float64Array = new Float64Array(8 * PARTS.length);
  readings: Float64Array = new Float64Array(8 * PARTS.length);
  /** By place: calls whose end isn't known. */
  readonly openEnds: number[] = [0];
  private readonly places = new ById<number>();
  private lastOwner = -1;
  private lastPlace = 0;

  constructor(
    private readonly events: EventColumns,
    private readonly owners: Owners,
  ) {}

  /** Place of the statement that a call serves. */
  placeOf(row: number): number {
    const owner = this.owners.sql(row);
    if (owner !== this.lastOwner) {
      this.lastOwner = owner; // calls made by one SQL call follow each other
      this.lastPlace = owner < 0 ? 0 : this.placeOfSql(owner);
    }
    return this.lastPlace;
  }

  placeAt(winner: number, engine: number): number {
    return this.placeOf(winner) || this.placeOf(engine);
  }

  private placeOfSql(owner: number): number {
    const id = textOfSql(this.events, owner);
    return id === 0 ? 0 : (this.places.get(id) ?? this.add(id));
  }

  private add(id: number): number {
    const place = this.ids.push(id) - 1;
    this.openEnds.push(0);
    this.ns = longer(this.ns, (place + 1) * PARTS.length);
    this.readings = longer(this.readings, (place + 1) * PARTS.length);
    return this.places.set(id, place);
  }
}
