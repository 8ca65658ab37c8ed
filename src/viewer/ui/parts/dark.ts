/** Whether the theme is dark, for who draws its colors on a canvas: Theme.svelte puts it into the context. */
import { getContext, setContext } from 'svelte';

type Dark = () => boolean;
const KEY = Symbol('dark');

export const provideDark = (dark: Dark): Dark => setContext(KEY, dark);
/** Call it in a component's script, below a Theme. @returns to be read reactively */
export const takeDark = (): Dark => getContext<Dark>(KEY);
