// `npm run store:pictures`: screenshots, tiles and the walk-through for the stores, of the built extension in a real Chromium, into
// store-assets/pictures. Look at them before they are uploaded.
import { join } from 'node:path';
import { loadTs } from '../dev/load-ts.mjs';

process.chdir(join(import.meta.dirname, '../..'));
const { takePictures } = await loadTs('store-pictures', 'tools/docs/store-pictures.ts');
await takePictures('store-assets/pictures');
