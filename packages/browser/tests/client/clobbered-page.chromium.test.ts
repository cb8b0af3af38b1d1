import { eventually, patienceMs, startServer, type TestServer } from '@millrace/testing';
import { bundleLibrary } from '../../bundle/bundle-library.ts';
import { pageSnippet } from '../../bundle/page-snippet.ts';
import { openPage, type Visit } from '../support/open-page.ts';
import { settingsKnown } from '../support/settings-known.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

/**
 * Who may put elements into a page, but no scripts (a comment, a profile, a mail), may give them names: `document.cookie` and
 * `window.posthog` are these elements then. None of them decides where data goes, stops the library, or is sent.
 */
let lab: Lab;
let stranger: TestServer;
const heardByStranger: string[] = [];
const files: Record<string, { type: string; content: string }> = {};
const codes: Record<string, string> = {};

beforeAll(async () => {
  lab = await startLab({ files });
  for (const name of ['array.js', 'exceptions.js', 'web-vitals.js'] as const)
    codes[name] = (await bundleLibrary(name)).code;
  lab.ingest.answerBy(({ path }) => {
    const code = codes[path.split('/').pop() ?? ''];
    return code ? { body: code } : undefined;
  });
  stranger = await startServer((request, response) => {
    heardByStranger.push(request.url ?? '');
    response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/html' });
    response.end('<a id="_i"></a>');
  });
});
beforeEach(() => {
  lab.ingest.clear();
  heardByStranger.length = 0;
});
afterEach(() => Promise.all(lab.browser.contexts().map((visitor) => visitor.close())));
afterAll(async () => {
  await stranger?.stop();
  await lab.stop();
});

/** What the library reads of a document. */
const ofDocument = (
  'currentScript createElement head documentElement querySelectorAll addEventListener cookie referrer title ' +
  'hidden visibilityState prerendering baseURI'
).split(' ');
/** And of a window, where that has none of its own: browsers of some years ago lack the last ones. */
const ofWindow = '_POSTHOG_REMOTE_CONFIG __millrace posthog CompressionStream PerformanceObserver Temporal'.split(' ');
const lacks = '<script>delete CompressionStream; delete PerformanceObserver; delete window.Temporal;</script>';

const away = () => stranger.url;
const each = (names: string[], html: (name: string) => string) => names.map(html).join('');

const rows: [of: string, html: () => string][] = [
  ['an image called currentScript', () => `<img name="currentScript" src="${away()}/static/array.js">`],
  ['two of them', () => `<img name="currentScript" src="${away()}/static/a.js">`.repeat(2)],
  ['an embed called currentScript', () => `<embed name="currentScript" src="${away()}/static/array.js">`],
  ['an object called currentScript', () => `<object id="currentScript" data="${away()}/static/array.js"></object>`],
  ['a frame called currentScript', () => `<iframe name="currentScript" src="${away()}/static/array.js"></iframe>`],
  [
    'a form called currentScript',
    () => `<form name="currentScript"><img name="src" src="${away()}/static/array.js"></form>`,
  ],
  ...ofDocument.map((name): [string, () => string] => [`an image called ${name}`, () => `<img name="${name}">`]),
  ...ofWindow.map((name): [string, () => string] => [
    `a link called ${name}`,
    () => `${lacks}<a id="${name}" href="${away()}"></a>`,
  ]),
  ...ofWindow.map((name): [string, () => string] => [
    `a frame from elsewhere called ${name}`,
    () => `${lacks}<iframe name="${name}" src="${away()}"></iframe>`,
  ]),
  ['images with all names of documents', () => each(ofDocument, (name) => `<img name="${name}">`)],
  ['forms with all names of documents', () => each(ofDocument, (name) => `<form name="${name}"></form>`)],
  [
    'two links with each name',
    () => lacks + each(ofWindow, (name) => `<a id="${name}"></a><a id="${name}" name="__SV" href="x:1"></a>`),
  ],
  [
    'a stub of links',
    () => '<a id="posthog"></a><a id="posthog" name="_i"></a><a id="posthog" name="init" href="x:1"></a>',
  ],
  [
    'settings of links',
    () =>
      `<form id="_POSTHOG_REMOTE_CONFIG" name="_POSTHOG_REMOTE_CONFIG"><input name="phc_test"></form>
       <a id="_POSTHOG_REMOTE_CONFIG"></a><a id="_POSTHOG_REMOTE_CONFIG" name="phc_test" href="${away()}"></a>`,
  ],
  [
    'settings of frames, with an endpoint elsewhere',
    () => {
      const quoted = (html: string) => html.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
      const frame = (name: string, html: string) => `<iframe name="${name}" srcdoc="${quoted(html)}"></iframe>`;
      const endpoint = `x:@${away().slice('http://'.length)}/`;
      const links = `<a id="analytics"></a><a id="analytics" name="endpoint" href="${endpoint}"></a>`;
      return frame('_POSTHOG_REMOTE_CONFIG', frame('phc_test', frame('config', links)));
    },
  ],
  ['the base of all addresses', () => `<base href="${away()}/">`],
  ['a title that is a form', () => '<form name="title"><input name="toString" value="typed by a visitor"></form>'],
  ['a form that answers for itself', () => '<form name="cookie"><input name="toString"><input name="split"></form>'],
  ['a form called referrer', () => '<form name="referrer"><input name="trim"></form>'],
  [
    'a prototype',
    () => '<a id="__proto__"></a><a id="__proto__" name="__millrace" href="x:1"></a><img name="__proto__">',
  ],
];

/** Without `api_host`: where the library came from decides. */
const options = `{ opt_out_useragent_filter: true, flushAt: 1, autocapture: true, rageclick: false, capture_performance: true,
  capture_exceptions: true, feature_flag_request_timeout_ms: ${patienceMs} }`;

/** A page with this in front of what is in its end. */
async function open(html: string, end = ''): Promise<Visit> {
  const path = `/clobbered-${Object.keys(files).length}`;
  const content = `<!doctype html><head><title>Shop</title></head><body>${html}<main><button>Buy</button></main>${end}</body>`;
  files[path] = { type: 'text/html', content };
  return openPage(await lab.browser.newContext(), lab.site.url + path);
}

/** All it does, and that it did it: nothing went elsewhere, nothing was thrown, nothing is missing. */
async function expectAllToWork({ page, complaints }: Visit): Promise<void> {
  await page.waitForFunction(() => Object.hasOwn(window, 'posthog') && window.posthog.__loaded === true);
  await settingsKnown(page);
  await page.evaluate(`{
    Document.prototype.querySelector.call(document, 'main button').click();
    posthog.register({ plan: 'pro' });
    posthog.identify('ada');
    posthog.capture('bought', { total: 5 });
  }`);
  await eventually(() => lab.ingest.events('bought').length > 0);
  await eventually(() => lab.ingest.events('$autocapture').length > 0);
  await eventually(() => lab.ingest.events('$pageview').length > 0);
  const [bought] = lab.ingest.events('bought');
  expect(bought?.properties).toMatchObject({
    distinct_id: 'ada',
    plan: 'pro',
    $referrer: '$direct',
    $timezone: expect.any(String),
  });
  expect(lab.ingest.events('$pageview')[0]?.properties.title).toBe('Shop');
  const cookie = await page.evaluate(
    `Object.getOwnPropertyDescriptor(Document.prototype, 'cookie').get.call(document)`,
  );
  expect(cookie).toContain('ph_phc_test_posthog=');
  expect(JSON.stringify(lab.ingest.events())).not.toContain('typed by a visitor');
  // What the page itself shows is asked for by the browser.
  expect(heardByStranger.filter((path) => !['/', '/static/array.js', '/static/a.js'].includes(path))).toEqual([]);
  expect(complaints.filter((text) => text.startsWith('thrown'))).toEqual([]);
}

test.each(rows)('the script, in a page with %s', async (_, html) => {
  const visit = await open(html());
  // When the frames are there.
  await visit.page.evaluate(
    ([src, init]) =>
      new Promise<void>((resolve) => {
        const script = Document.prototype.createElement.call(document, 'script') as HTMLScriptElement;
        Object.assign(script, { src, onload: () => resolve(new Function(init)()) });
        Document.prototype.querySelector.call(document, 'main')?.append(script);
      }),
    [`${lab.ingest.url}/static/array.js`, `posthog.init('phc_test', ${options})`] as const,
  );
  await expectAllToWork(visit);
});

const ofSnippet = rows.filter(([of]) =>
  /all names|two|stub|createElement|called (head|posthog|currentScript)$/.test(of),
);
test.each(ofSnippet)('the snippet, in a page with %s', async (_, html) => {
  const snippet = pageSnippet('phc_test', { src: `${lab.ingest.url}/static/array.js` });
  const given = snippet.replace("posthog.init('phc_test')", () => `posthog.init('phc_test', ${options})`);
  expect(given).not.toBe(snippet);
  await expectAllToWork(await open(html(), given));
});

test('a host that is a path is one of the page’s own site, whatever the base of its addresses is', async () => {
  const asked: string[] = [];
  const { page } = await open(`<base href="${away()}/">`, `<script src="${lab.ingest.url}/static/array.js"></script>`);
  page.on('request', (request) => asked.push(request.url()));
  await page.evaluate(`posthog.init('phc_test', { ...${options}, api_host: '/ingest' }); posthog.capture('bought')`);
  await eventually(() => asked.some((address) => address.startsWith(`${lab.site.url}/ingest/`)));
  await eventually(() => asked.some((address) => /\/e\//.test(address)));
  expect(asked.filter((address) => !address.startsWith(`${lab.site.url}/ingest/`) && !/\.js$/.test(address))).toEqual(
    [],
  );
});
