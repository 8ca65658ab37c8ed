/** The large costs of a report that no finding explains. */
import { ACCOUNTS, type Account } from '../findings/accounts.ts';
import type { Block } from './blocks.ts';

/** [] without any. */
export const accountsBlock = (found: readonly Account[], heading = ACCOUNTS): Block[] =>
  found.length ? [{ heading, lines: found.map(({ title, advice }) => `${title}. ${advice}`) }] : [];
