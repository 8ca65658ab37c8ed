// The page: list, search, editor and the data menu. body[data-state] is "ready", "busy" or "error"; body[data-count] and #count hold the
// number of notes, body[data-shown] the rows in the list.
import { startDatabase } from './client.js';
import { bytes, duration, listItem, moment, number, tagItem } from './render.js';
import { TAGS } from './sample.js';

const $ = (id) => document.getElementById(id);
const PAGE = 100;

const call = startDatabase();
const view = { search: '', tag: '', limit: PAGE, id: null };
let running = 0;
let failed = false;

/**
 * Calls the database. The page is busy until a whole task is done. An error is shown and also ends
 * the caller.
 */
async function ask(name, ...args) {
  if (running++ === 0) failed = false;
  document.body.dataset.state = 'busy';
  try {
    return await call(name, ...args);
  } catch (error) {
    failed = true;
    $('error-text').textContent = error.message;
    $('error').hidden = false;
    throw error;
  } finally {
    running--;
    // later, because the caller's next call may begin now, and "ready" in the middle of a task
    // would be wrong
    setTimeout(() => {
      if (running === 0) document.body.dataset.state = failed ? 'error' : 'ready';
    });
  }
}

const say = (text) => ($('status').textContent = text);

/** `ask` has shown the error, so there is nothing left to do here. */
const shown = (error) => console.warn('fieldnotes:', error.message);

async function refresh() {
  const { search, tag, limit } = view;
  const { result } = await ask('list', { search, tag, limit });
  // a later keystroke has sent another query, whose answer will be shown
  if (search !== view.search || tag !== view.tag) return;
  const { rows, matches } = result;
  $('list').replaceChildren(
    ...rows.map((row) => listItem(row, row.id === view.id, () => open(row.id).catch(shown))),
  );
  if (matches > rows.length) $('list').append(moreButton(matches - rows.length));
  $('summary').textContent = search
    ? `${number(matches)} found for “${search}”`
    : `${number(matches)} ${tag ? `in ${tag}` : 'notes'}`;
  document.body.dataset.shown = String(rows.length);
}

function moreButton(left) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = `Show more (${number(left)} left)`;
  button.onclick = () => {
    view.limit += PAGE;
    refresh().catch(shown);
  };
  return button;
}

async function statistics() {
  const { result } = await ask('statistics');
  const { tags, total, pages, pageSize, journalMode } = result;
  const counts = new Map(tags.map(({ tag, n }) => [tag, n]));
  const items = [['', total], ...TAGS.map((tag) => [tag, counts.get(tag) ?? 0])];
  $('tags').replaceChildren(
    ...items.map(([tag, n]) => tagItem(tag, n, tag === view.tag, () => chooseTag(tag))),
  );
  $('count').textContent = number(total);
  $('size').textContent = bytes(pages * pageSize);
  $('facts').querySelector('[data-fact=Pages]').textContent =
    `${number(pages)} × ${number(pageSize)} B`;
  $('facts').querySelector('[data-fact=Journal]').textContent = journalMode;
  document.body.dataset.count = String(total);
}

function chooseTag(tag) {
  Object.assign(view, { tag, limit: PAGE });
  for (const item of $('tags').querySelectorAll('button'))
    item.setAttribute('aria-current', String(item.dataset.tag === tag));
  refresh().catch(shown);
}

async function open(id) {
  const { result: note } = await ask('get', id);
  if (!note) return edit(null);
  edit(note);
}

/** Shows a note in the editor: a stored one, a new one ({}), or none (null). */
function edit(note) {
  view.id = note?.id ?? null;
  for (const field of ['title', 'tag', 'body', 'save', 'remove']) $(field).disabled = note === null;
  $('title').value = note?.title ?? '';
  $('body').value = note?.body ?? '';
  $('tag').value = note?.tag ?? (view.tag || TAGS[0]);
  $('remove').disabled ||= view.id === null;
  $('dates').textContent = note?.id ? `Changed ${moment(note.updated)}` : '';
  for (const item of $('list').querySelectorAll('[data-id]'))
    item.setAttribute('aria-current', String(item.dataset.id === String(view.id)));
}

async function save() {
  const note = {
    id: view.id,
    title: $('title').value.trim(),
    body: $('body').value,
    tag: $('tag').value,
  };
  const { result, ms } = await ask(note.id === null ? 'add' : 'update', note);
  say(`Saved in ${duration(ms)}`);
  await open(note.id ?? result);
  await Promise.all([refresh(), statistics()]);
}

function enableTasks(on) {
  for (const id of ['add', 'import', 'one-by-one', 'check', 'clear', 'remove'])
    $(id).disabled = !on || (id === 'remove' && view.id === null);
}

/** A task of the data menu: disable the buttons, call, report the result, and show it. */
async function task(text, done, name, ...args) {
  enableTasks(false);
  say(`${text} …`);
  try {
    const { result, ms } = await ask(name, ...args);
    await Promise.all([refresh(), statistics()]);
    say(done(duration(ms), result));
  } catch (error) {
    say(`${text}: failed`);
    throw error;
  } finally {
    enableTasks(true);
  }
}

function wire() {
  $('search').oninput = () => {
    Object.assign(view, { search: $('search').value.trim(), limit: PAGE });
    refresh().catch(shown);
  };
  $('add').onclick = () => {
    edit({});
    $('title').focus();
  };
  $('editor').onsubmit = (event) => {
    event.preventDefault();
    save().catch(shown);
  };
  $('remove').onclick = () => {
    const id = view.id;
    edit(null);
    task('Deleting the note', (time) => `Deleted in ${time}`, 'remove', id).catch(shown);
  };
  $('import').onclick = () =>
    task(
      'Importing 5,000 notes',
      (time) => `Imported 5,000 notes in one transaction: ${time}`,
      'importMany',
      5000,
    ).catch(shown);
  $('one-by-one').onclick = () =>
    task(
      'Adding 100 notes',
      (time) => `Added 100 notes in 100 transactions: ${time}`,
      'addOneByOne',
      100,
    ).catch(shown);
  $('check').onclick = () =>
    task('Checking', (time, lines) => `Integrity: ${lines.join('; ')} (${time})`, 'check').catch(
      shown,
    );
  $('clear').onclick = () => {
    if (!confirm('Delete all notes?')) return;
    edit(null);
    task('Deleting all notes', (time) => `Deleted all notes in ${time}`, 'clear').catch(shown);
  };
  $('vfs').onchange = () => (location.search = $('vfs').value);
  $('error-close').onclick = () => ($('error').hidden = true);
  document.onkeydown = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's' && !$('save').disabled) {
      event.preventDefault();
      $('editor').requestSubmit();
    } else if (event.key === '/' && document.activeElement === document.body) {
      event.preventDefault();
      $('search').focus();
    }
  };
}

async function start() {
  $('tag').replaceChildren(...TAGS.map((tag) => new Option(tag)));
  const query = new URLSearchParams(location.search);
  const config = Object.fromEntries(
    ['vfs', 'build'].filter((key) => query.has(key)).map((key) => [key, query.get(key)]),
  );
  const chosen = [...$('vfs').options].find(
    ({ value }) => value === String(new URLSearchParams(config)),
  );
  if (chosen) chosen.selected = true;
  wire();
  enableTasks(false);
  const { result, ms } = await ask('open', config);
  const facts = {
    SQLite: result.sqliteVersion,
    VFS: result.vfs,
    Build: result.build,
    Journal: '',
    Pages: '',
  };
  for (const [name, value] of Object.entries(facts)) {
    const term = document.createElement('dt');
    const detail = document.createElement('dd');
    term.textContent = name;
    detail.textContent = value;
    detail.dataset.fact = name;
    $('facts').append(term, detail);
  }
  await Promise.all([refresh(), statistics()]);
  enableTasks(true);
  say(`Opened in ${duration(ms)}`);
}

start().catch((error) => {
  say('The database did not open');
  shown(error);
});
