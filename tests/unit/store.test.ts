/** Store uploads besides the packages follow each store's rules: texts, icons, pictures. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ASSETS = 'store-assets';
interface Picture {
  file: string;
  width: number;
  height: number;
  alpha?: boolean;
}
interface Limits {
  texts: Record<string, number | [least: number, most: number]>;
  packageFields?: Record<string, number>;
  searchTerms?: { most: number; characters: number; words: number };
  icon: Picture;
  screenshots: Omit<Picture, 'file'> & { least: number; most?: number; bytes?: number };
  tiles: Picture[];
  /** Source of each limit, or that it is only known from the store's form. */
  sources: Record<string, string>;
}
const read = (path: string): string => readFileSync(path, 'utf8');
const json = (path: string): unknown => JSON.parse(read(path));
const limits = json(join(ASSETS, 'limits.json')) as Record<string, Limits>;
const manifest = json('manifest.json') as Record<string, string> & {
  permissions: string[];
  optional_host_permissions: string[];
};
const description = read(join(ASSETS, 'listing/description.txt')).trim();

/** The `## field` headings, each with the text under it. */
function fieldsOf(store: string): Map<string, string> {
  const [, ...sections] = read(join(ASSETS, `listing/${store}.md`)).split(/^## /m);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      return [section.slice(0, end).trim(), section.slice(end).trim()];
    }),
  );
}

/** Width and height, from a PNG's first chunk. */
function sizeOf(file: string) {
  const png = readFileSync(file);
  expect(png.toString('latin1', 1, 4), file).toBe('PNG');
  const colorType = png[25]!;
  return {
    width: png.readUInt32BE(16),
    height: png.readUInt32BE(20),
    alpha: colorType === 4 || colorType === 6,
    bytes: png.length,
  };
}

function expectPicture(file: string, { width, height, alpha }: Omit<Picture, 'file'>): void {
  const found = sizeOf(join(ASSETS, file));
  expect({ file, width: found.width, height: found.height }).toEqual({ file, width, height });
  if (alpha === false) expect(found.alpha, `${file} has an alpha channel`).toBe(false);
}

const permissionRows = new Map(
  [...read('docs/permissions.md').matchAll(/^\| `([^`]+)` \| [^|]+ \| (.+) \|$/gm)].map(
    ([, name, why]) => [name!, why!],
  ),
);

test.each(Object.keys(limits))('%s: texts are present and no longer than allowed', (store) => {
  const fields = fieldsOf(store).set('description', description);
  for (const [name, limit] of Object.entries(limits[store]!.texts)) {
    if (name === 'justification') continue;
    const [least, most] = typeof limit === 'number' ? [1, limit] : limit;
    const { length } = fields.get(name) ?? '';
    expect(length, `${store}: ${name}`).toBeGreaterThanOrEqual(least);
    expect(length, `${store}: ${name}`).toBeLessThanOrEqual(most);
  }
  for (const [name, most] of Object.entries(limits[store]!.packageFields ?? {}))
    expect(manifest[name]!.length, `manifest: ${name}`).toBeLessThanOrEqual(most);
});

test.each(Object.keys(limits))('%s: each limit has its source', (store) => {
  const { texts, packageFields = {}, searchTerms, tiles, sources } = limits[store]!;
  // a package field is listed under the name that the store shows
  const fields = Object.keys(packageFields).filter((name) => name !== 'description');
  const others = [
    'icon',
    'screenshots',
    ...(searchTerms ? ['searchTerms'] : []),
    ...(tiles.length ? ['tiles'] : []),
  ];
  expect(Object.keys(sources).sort()).toEqual(
    [...new Set([...Object.keys(texts), ...fields, ...others])].sort(),
  );
  for (const [name, source] of Object.entries(sources))
    expect(source, `${store}: ${name}`).toMatch(
      /^https:\/\/[\w.-]+\/\S+$|^the store's form; no documentation found$/,
    );
});

test("the App Store's keywords: bytes in total, characters each", () => {
  const keywords = fieldsOf('app-store').get('Keywords')!;
  expect(Buffer.byteLength(keywords)).toBeLessThanOrEqual(
    limits['app-store']!.texts['Keywords'] as number,
  );
  for (const word of keywords.split(',')) {
    expect(word).toBe(word.trim());
    expect(word.length, word).toBeGreaterThan(2);
  }
});

test("Edge's search terms", () => {
  const { most, characters, words } = limits['edge']!.searchTerms!;
  const terms = fieldsOf('edge').get('Search terms')!.split('\n');
  expect(terms.length).toBeLessThanOrEqual(most);
  expect(Math.max(...terms.map(({ length }) => length))).toBeLessThanOrEqual(characters);
  expect(terms.flatMap((term) => term.split(' ')).length).toBeLessThanOrEqual(words);
});

test('name and summary match the package', () => {
  for (const store of ['chrome', 'edge']) {
    expect(fieldsOf(store).get('Name')).toBe(manifest['name']);
    expect(fieldsOf(store).get('Summary')).toBe(manifest['description']);
  }
  expect(fieldsOf('amo').get('Name')).toBe(manifest['name']);
});

test('the description for all stores names no browser', () => {
  expect(description).not.toMatch(/\b(?:Chrome|Chromium|Edge|Safari)\b/);
});

test('every permission of the manifest is justified, and no other', () => {
  const asked = [...manifest.permissions, ...manifest.optional_host_permissions];
  expect([...permissionRows.keys()].sort()).toEqual(asked.sort());
  const most = limits['chrome']!.texts['justification'] as number;
  for (const [name, why] of permissionRows) {
    expect(why.length, name).toBeGreaterThan(40);
    expect(why.length, name).toBeLessThanOrEqual(most);
  }
});

describe('pictures', () => {
  const screenshots = readdirSync(join(ASSETS, 'pictures')).filter((file) =>
    /^\d-.*\.png$/.test(file),
  );

  test.each(Object.keys(limits))('%s: sizes', (store) => {
    const { icon, tiles, screenshots: wanted } = limits[store]!;
    for (const picture of [icon, ...tiles]) expectPicture(picture.file, picture);
    expect(screenshots.length).toBeGreaterThanOrEqual(wanted.least);
    expect(screenshots.length).toBeLessThanOrEqual(wanted.most ?? Infinity);
    for (const file of screenshots) {
      expectPicture(`pictures/${file}`, wanted);
      expect(sizeOf(join(ASSETS, 'pictures', file)).bytes).toBeLessThanOrEqual(
        wanted.bytes ?? Infinity,
      );
    }
  });

  test('every icon size exists', () => {
    for (const size of [16, 32, 48, 64, 96, 128, 256, 300, 512, 1024])
      expectPicture(`icons/icon-${size}.png`, { width: size, height: size, alpha: size < 1024 });
    expect(existsSync(join(ASSETS, 'icons/icon.svg'))).toBe(true);
  });

  test('the walk-through is animated: an APNG of several frames, with chunks as the format requires', () => {
    const png = readFileSync(join(ASSETS, 'pictures/walk-through.png'));
    expect(sizeOf(join(ASSETS, 'pictures/walk-through.png')).width).toBe(960);
    const chunks: string[] = [];
    let frames = 0;
    for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
      const type = png.toString('latin1', at + 4, at + 8);
      if (type === 'acTL') frames = png.readUInt32BE(at + 8);
      if (chunks.at(-1) !== type) chunks.push(type);
    }
    expect(frames).toBeGreaterThanOrEqual(4);
    expect(chunks.filter((type) => type === 'fcTL')).toHaveLength(frames);
    expect(chunks.indexOf('acTL')).toBeLessThan(chunks.indexOf('IDAT'));
    expect(chunks.at(-1)).toBe('IEND');
  });
});
