/**
 * A digest of result rows: shows whether two variants computed the same, without saving the rows.
 */

/** FNV-1a over the text of every value, 32 bits. */
export class RowDigest {
  private hash = 0x811c9dc5;
  rows = 0;
  /** @param reading whether rows are read at all */
  constructor(readonly reading: boolean) {}

  add(row: readonly unknown[]): void {
    this.rows++;
    for (const value of row)
      this.text32(
        value instanceof Uint8Array ? `x${value.join()}` : `${typeof value} ${String(value)}`,
      );
    this.text32('\n');
  }
  private text32(s: string): void {
    for (let i = 0; i < s.length; i++)
      this.hash = Math.imul(this.hash ^ s.charCodeAt(i), 0x01000193);
  }
  /** 8 hexadecimal digits and the number of rows. */
  text(): string {
    return `${(this.hash >>> 0).toString(16).padStart(8, '0')}/${this.rows}`;
  }
}
