/** Quotes statements for the sentences of rules. */
import { cut, oneLine } from '../../text/clean.ts';

const SQL_LENGTH = 80;
/** A statement within a sentence. */
export const quoted = (sql: string): string => `"${cut(oneLine(sql), SQL_LENGTH)}"`;
