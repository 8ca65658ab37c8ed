// The notes: their tables, and all of the page's queries.
import { openDatabase } from './database.js';
import { sampleNote } from './sample.js';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS notes(
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, tag TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS notes_by_update ON notes(updated DESC);
  CREATE INDEX IF NOT EXISTS notes_by_tag ON notes(tag, updated DESC);
  CREATE VIRTUAL TABLE IF NOT EXISTS notes_search USING fts5(title, body, content='notes', content_rowid='id', prefix='2 3');
  CREATE TRIGGER IF NOT EXISTS notes_added AFTER INSERT ON notes BEGIN
    INSERT INTO notes_search(rowid, title, body) VALUES (new.id, new.title, new.body);
  END;
  CREATE TRIGGER IF NOT EXISTS notes_removed AFTER DELETE ON notes BEGIN
    INSERT INTO notes_search(notes_search, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
  END;
  CREATE TRIGGER IF NOT EXISTS notes_changed AFTER UPDATE OF title, body ON notes BEGIN
    INSERT INTO notes_search(notes_search, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
    INSERT INTO notes_search(rowid, title, body) VALUES (new.id, new.title, new.body);
  END;`;

const INSERT = 'INSERT INTO notes(title, body, tag, created, updated) VALUES (?, ?, ?, ?, ?)';
const WELCOME = 12;

/**
 * Opens the notes. A new database gets a dozen examples. The result's functions are the page's
 * calls.
 */
export async function openNotes(config) {
  const db = await openDatabase(config);
  await db.transaction(async () => {
    await db.exec(SCHEMA);
    if ((await total()) === 0) await db.each(INSERT, samples(WELCOME, 0));
  });

  async function total() {
    return (await db.all('SELECT count(*) AS n FROM notes'))[0].n;
  }

  /** The newest notes, or the best matches of a search, of one tag or all: `{rows, matches}`. */
  async function list({ search = '', tag = '', limit = 100 }) {
    const words = search.match(/[\p{L}\p{N}]+/gu) ?? [];
    if (words.length === 0) {
      const where = tag ? 'WHERE tag = ?' : '';
      const params = tag ? [tag] : [];
      const rows = await db.all(
        `SELECT id, title, substr(body, 1, 140) AS excerpt, tag, updated FROM notes ${where} ORDER BY updated DESC LIMIT ${Number(limit)}`,
        params,
      );
      return {
        rows,
        matches: (await db.all(`SELECT count(*) AS n FROM notes ${where}`, params))[0].n,
      };
    }
    const match = words.map((word) => `"${word}"*`).join(' ');
    const where = `notes_search MATCH ? ${tag ? 'AND notes.tag = ?' : ''}`;
    const params = tag ? [match, tag] : [match];
    const rows = await db.all(
      `SELECT notes.id, notes.title, snippet(notes_search, 1, char(2), char(3), '…', 18) AS excerpt, notes.tag, notes.updated
       FROM notes_search JOIN notes ON notes.id = notes_search.rowid WHERE ${where} ORDER BY rank LIMIT ${Number(limit)}`,
      params,
    );
    const counted = await db.all(
      `SELECT count(*) AS n FROM notes_search JOIN notes ON notes.id = notes_search.rowid WHERE ${where}`,
      params,
    );
    return { rows, matches: counted[0].n };
  }

  return {
    about: { sqliteVersion: db.version, vfs: db.vfs, build: db.build },
    list,

    get: async (id) => (await db.all('SELECT * FROM notes WHERE id = ?', [id]))[0] ?? null,

    async add({ title, body, tag }) {
      const now = Date.now();
      return (await db.all(`${INSERT} RETURNING id`, [title, body, tag, now, now]))[0].id;
    },

    update: ({ id, title, body, tag }) =>
      db.all('UPDATE notes SET title = ?, body = ?, tag = ?, updated = ? WHERE id = ?', [
        title,
        body,
        tag,
        Date.now(),
        id,
      ]),

    remove: (id) => db.all('DELETE FROM notes WHERE id = ?', [id]),

    clear: () =>
      db.transaction(() =>
        db.exec("DELETE FROM notes; INSERT INTO notes_search(notes_search) VALUES ('optimize')"),
      ),

    /** All in one transaction. */
    importMany: (count) =>
      db.transaction(async () => db.each(INSERT, samples(count, await total()))),

    /** Each in its own transaction, like a loop of single saves. */
    addOneByOne: async (count) => db.each(INSERT, samples(count, await total())),

    async statistics() {
      const [pages] = await db.all(
        'SELECT page_count AS pages, page_size AS pageSize FROM pragma_page_count, pragma_page_size',
      );
      const [{ journal_mode: journalMode }] = await db.all('PRAGMA journal_mode');
      const tags = await db.all('SELECT tag, count(*) AS n FROM notes GROUP BY tag ORDER BY tag');
      return { ...pages, journalMode, tags, total: await total() };
    },

    /** Results of integrity_check, and then of the search index: ["ok"] if all is well. */
    async check() {
      const lines = (await db.all('PRAGMA integrity_check')).map((row) => row.integrity_check);
      await db.exec("INSERT INTO notes_search(notes_search) VALUES ('integrity-check')");
      return lines;
    },
  };
}

function* samples(count, from) {
  const now = Date.now();
  for (let i = from; i < from + count; i++) {
    const { title, body, tag, at } = sampleNote(i, now);
    yield [title, body, tag, at, at];
  }
}
