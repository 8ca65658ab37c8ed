/** The time while SQL runs by statement text, while a sweep sums it up: one place for each text, found by the SQL call that a call serves. */
import type { EventColumns } from '../../trace/columns.ts';
import { Op } from '../../event/event.ts';
import { longer } from '../../trace/typed-arrays.ts';
import { ById } from '../core/by-id.ts';
import type { Owners } from '../../trace/owners.ts';
import { PARTS } from '../core/time-parts.ts';

export class Shares {
  /** Ids of `sql` definitions by place; 0 = statement not known. */
  readonly ids: number[] = [0];
  /** Nanoseconds and clock readings: `place * PARTS.length + part`. */
  ns: Float64Array = new Float64Array(8 * PARTS.length);
  readings: Float64Array = new Float64Array(8 * PARTS.length);
  /** By place: calls whose end is not known. */
  readonly openEnds: number[] = [0];
  private readonly places = new ById<number>();
  private lastOwner = -1;
  private lastPlace = 0;

  constructor(
    private readonly events: EventColumns,
    private readonly owners: Owners,
  ) {}

  /** Place of the statement that a call serves. Opening and closing are of none. */
  placeOf(row: number): number {
    const owner = this.owners.sql(row);
    if (owner !== this.lastOwner) {
      this.lastOwner = owner; // calls under one SQL call follow each other
      this.lastPlace = owner < 0 ? 0 : this.placeOfSql(owner);
    }
    return this.lastPlace;
  }

  private placeOfSql(owner: number): number {
    const op = this.events.op[owner]!;
    const id = op === Op.sqlOpen || op === Op.sqlClose ? 0 : this.events.object[owner]!;
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
