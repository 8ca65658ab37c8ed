/**
 * Whether the theme is dark, for code that draws its colors on a canvas. Theme.svelte provides it
 * in the context.
 */
import { getContext, setContext } from 'svelte';

type Dark = () => boolean;
const KEY = Symbol('dark');

export const provideDark = (dark: Dark): Dark => setContext(KEY, dark);
/** Call it in a component's script, below a Theme. @returns a reactive getter */
export const takeDark = (): Dark => getContext<Dark>(KEY);
