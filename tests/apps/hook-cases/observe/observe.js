// Everything that this page observes, by name: `group/what` -> JSON. Names of groups that a
// recording changes are ids in docs/limits.md.
async function observe() {
  const seen = {};
  const put = (name, value) => (seen[name] = JSON.stringify(value) ?? 'undefined');
  shapes(put);
  await errors(put);
  await orders(put);
  await workers(put);
  // last, when everything that a recording does at the start has been done
  put('handover-frame/nodes added', added.filter((text) => text.startsWith('DIV')).length > 0);
  put('page/frames', [window.length, document.querySelectorAll('*').length]);
  put(
    'page/resources of extensions',
    performance.getEntriesByType('resource').filter((e) => e.name.includes('-extension:')).length,
  );
  return seen;
}
