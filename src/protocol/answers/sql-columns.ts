/** Questions and answers about columns of the Query view. */

export interface SqlColumn {
  name: string;
  /** REAL columns return REAL for whole numbers, too. */
  type: 'INTEGER' | 'REAL' | 'TEXT';
  /** For the list of tables. */
  help: string;
}
