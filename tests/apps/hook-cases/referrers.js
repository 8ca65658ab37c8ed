// The referrers of its requests.
performance.mark('case');
const here = '/referrer';
const seen = {};
const asked = async (name, ask) => {
  try {
    seen[name] = await (await ask()).json();
  } catch (e) {
    seen[name] = `${e.name}: ${e.message}`;
  }
};
(async () => {
  await asked('URL', () => fetch(here));
  await asked('URL object', () => fetch(new URL(here, location.href)));
  await asked('object that becomes a URL', () => fetch({ toString: () => here }));
  await asked('URL object in a Request', () => fetch(new Request(new URL(here, location.href))));
  await asked('Request', () => fetch(new Request(here)));
  await asked('Request and no members', () =>
    fetch(new Request(here, { referrerPolicy: 'origin' }), {}),
  );
  await asked('Request and members', () =>
    fetch(new Request(here, { referrerPolicy: 'origin' }), { method: 'POST', body: 'x' }),
  );
  await asked('Request with a body', () => fetch(new Request(here, { method: 'POST', body: 'x' })));
  await asked('Request with its own', () => fetch(new Request(here, { referrer: 'sub/own' })));
  await asked('own', () => fetch(here, { referrer: 'sub/own' }));
  await asked('own of a frozen object', () => fetch(here, Object.freeze({ referrer: 'sub/own' })));
  await asked('client of a frozen object', () =>
    fetch(here, Object.freeze({ referrer: 'about:client' })),
  );
  await asked('none', () => fetch(here, { referrer: '' }));
  await asked('client', () => fetch(here, { referrer: 'about:client' }));
  await asked('policy', () => fetch(here, { referrerPolicy: 'no-referrer' }));
  await asked('policy of a Request', () =>
    fetch(new Request(here, { referrerPolicy: 'no-referrer' })),
  );
  await asked('Request as members', () => fetch(here, new Request(here, { method: 'PUT' })));
  await asked('no object', () => fetch(here, 5));
  await asked('null', () => fetch(here, null));
  await asked('bad', () => fetch(here, { referrer: 'http://[bad' }));
  seen.attribute = [
    new Request(here).referrer,
    new Request(here, { referrer: 'sub/own' }).referrer,
  ];
  const spent = new Request(here, { method: 'POST', body: 'x' });
  await fetch(spent);
  seen.spent = spent.bodyUsed;
  const redirect = Response.redirect('sub/own');
  seen.redirect = redirect.headers.get('location');
  let reads = 0;
  await fetch(here, {
    get referrer() {
      reads++;
      return undefined;
    },
  });
  seen.reads = reads;
  self.postMessage({ ...seen, done: true });
})();
