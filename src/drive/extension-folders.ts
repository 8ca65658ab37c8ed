/** The built extensions, which lie beside the built command. */
import { fileURLToPath } from 'node:url';

export const EXTENSION = fileURLToPath(new URL('../chrome/', import.meta.url));
export const FIREFOX_EXTENSION = fileURLToPath(new URL('../firefox/', import.meta.url));
