/** How a part without a model tells the user something: the App puts it into the context, the part takes it from there. */
import { getContext, setContext } from 'svelte';

export type Say = (kind: 'error' | 'info', text: string) => void;
const KEY = Symbol('say');

export const provideSay = (say: Say): Say => setContext(KEY, say);
/** Call it in a component's script, below the App. */
export const takeSay = (): Say => getContext<Say>(KEY);
