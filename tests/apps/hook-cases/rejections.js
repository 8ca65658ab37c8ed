// Promises of the platform that reject, handled in every way or not at all, and the events that the
// window gets.
async function rejectionCases() {
  const seen = [];
  const given = new Map();
  for (const type of ['unhandledrejection', 'rejectionhandled'])
    addEventListener(type, (e) => {
      e.preventDefault();
      seen.push([type, given.get(e.promise) ?? 'another promise', e.reason?.name]);
    });
  const root = await navigator.storage.getDirectory();
  const fail = (name) => {
    const promise = root.getFileHandle(`none ${name}`);
    given.set(promise, name);
    return promise;
  };
  const later = () => new Promise((resolve) => setTimeout(resolve, 30));

  fail('never handled');
  await fail('awaited').catch(() => {});
  try {
    await fail('awaited in try');
  } catch {
    seen.push('caught');
  }
  fail('then with two').then(
    () => {},
    () => seen.push('second argument'),
  );
  await Promise.allSettled([fail('all settled'), fail('all settled too')]);
  await (async () => fail('returned'))().catch(() => seen.push('from async'));
  await Promise.race([fail('raced')]).catch(() => {});
  const derived = fail('then with one').then(() => {});
  given.set(derived, 'derived');
  await later();
  const late = fail('handled late');
  await later();
  late.catch(() => {});
  await later();

  const lock = navigator.locks.request('rejects', () => Promise.reject(new RangeError('mine')));
  given.set(lock, 'lock never handled');
  await later();
  await navigator.locks
    .request('rejects', () => Promise.reject(new RangeError('mine')))
    .catch((e) => seen.push(e.name));
  const refused = navigator.locks.request('-', () => 1);
  given.set(refused, 'lock refused');
  await later();
  // stolen locks: held ones reject, whether the app handles them at once, later, through another
  // promise, or never
  const stolen = async (name, look) => {
    await new Promise((granted) => {
      const held = navigator.locks.request(name, () => (granted(), new Promise(() => {})));
      given.set(held, name);
      look(held);
    });
    await navigator.locks.request(name, { steal: true }, () => {});
    await later();
  };
  await stolen('stolen, never handled', () => {});
  await stolen('stolen, caught', (p) => p.catch((e) => seen.push(e.name)));
  await stolen('stolen, finally and caught', (p) =>
    p.finally(() => seen.push('finally')).catch((e) => seen.push(e.name)),
  );
  await stolen('stolen, returned by an async function', (p) =>
    (async () => p)().catch((e) => seen.push(e.name)),
  );
  await stolen('stolen, handed to resolve', (p) =>
    new Promise((r) => r(p)).catch((e) => seen.push(e.name)),
  );
  let kept;
  await stolen('stolen, handled late', (p) => (kept = { p }));
  kept.p.catch((e) => seen.push(`late ${e.name}`));
  await later();

  const response = await new Response(
    new ReadableStream({ start: (c) => fail('into the platform').catch((e) => c.error(e)) }),
  )
    .text()
    .catch((e) => e.name);
  seen.push(response);

  // in which turn of the microtask queue reactions run
  const turns = [];
  const promise = root.getDirectoryHandle('turns', { create: true });
  promise.then(() => {
    let turn = 0;
    const count = () => ++turn < 6 && Promise.resolve().then(count);
    count();
    (async () => (await promise, turns.push(`awaited ${turn}`)))();
    promise.then(() => turns.push(`then ${turn}`));
    promise.finally(() => {}).then(() => turns.push(`finally ${turn}`));
  });
  await later();
  await root.removeEntry('turns');
  seen.push(
    turns,
    Object.getOwnPropertyNames(promise),
    promise.constructor === Promise,
    promise instanceof Promise,
  );
  return seen;
}
