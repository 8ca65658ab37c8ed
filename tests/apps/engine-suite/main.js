// Runs test files that an engine's package ships:
// ?package=wa-sqlite&file=sqlite-api.test.js[&file=...]. The order is fixed, so that two runs can
// be compared. window.results holds [name, status] of each test when body[data-state] is 'done'.
const query = new URLSearchParams(location.search);
const env = jasmine.getEnv();
env.configure({ random: false, failSpecWithNoExpectations: false });
jasmine.DEFAULT_TIMEOUT_INTERVAL = 60_000;
const html = new jasmine.HtmlReporter({
  env,
  navigateWithNewParam: () => '',
  addToExistingQueryString: (k, v) => `?${k}=${v}`,
  filterSpecs: false,
  getContainer: () => document.body,
  createElement: (...a) => document.createElement(...a),
  createTextNode: (t) => document.createTextNode(t),
  timer: new jasmine.Timer(),
});
html.initialize();
env.addReporter(html);
window.results = [];
env.addReporter({
  specDone: ({ fullName, status, failedExpectations }) =>
    window.results.push([fullName, status, failedExpectations.map((f) => f.message)]),
  jasmineDone: () => (document.body.dataset.state = 'done'),
});

try {
  for (const file of query.getAll('file'))
    await import(`/suites/${query.get('package')}/test/${file}`);
  document.body.dataset.state = 'busy';
  await env.execute();
} catch (error) {
  document.body.dataset.state = 'error';
  document.body.append(String(error));
}
