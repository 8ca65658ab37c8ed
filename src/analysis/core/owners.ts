/** What every call of a thread serves, as a fact. */
import { ownersOf } from '../../trace/owners.ts';
import { threadFact } from './graph.ts';

export const owners = threadFact('owners', 'which statement each call serves', {}, ownersOf);
