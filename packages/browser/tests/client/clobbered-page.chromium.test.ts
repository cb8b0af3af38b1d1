import { eventually, patienceMs, startServer, type TestServer } from '@millrace/testing';
import { bundleLibrary } from '../../bundle/bundle-library.ts';
import { buildPageSnippet } from '../../bundle/page-snippet.ts';
import { openPage, type Visit } from '../support/open-page.ts';
import { waitForSettings } from '../support/settings-known.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

/**
 * Tests DOM clobbering. Users of a site may be able to add elements, but not scripts, to a page (for example in a
 * comment or profile). If they choose certain names, `document.cookie` or `window.posthog` returns an element. The
 * element must not determine where data is sent, must not stop the library, and must not be part of events.
 */
let lab: Lab;
let stranger: TestServer;
const strangerRequests: string[] = [];
const files: Record<string, { type: string; content: string }> = {};
const codes: Record<string, string> = {};

beforeAll(async () => {
  lab = await startLab({ files });
  for (const name of ['array.js', 'exceptions.js', 'web-vitals.js'] as const)
    codes[name] = (await bundleLibrary(name)).code;
  lab.ingest.respondWith(({ path }) => {
    const code = codes[path.split('/').pop() ?? ''];
    return code ? { body: code } : undefined;
  });
  stranger = await startServer((request, response) => {
    strangerRequests.push(request.url ?? '');
    response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/html' });
    response.end('<a id="_i"></a>');
  });
});
beforeEach(() => {
  lab.ingest.clear();
  strangerRequests.length = 0;
});
afterEach(() => Promise.all(lab.browser.contexts().map((visitor) => visitor.close())));
afterAll(async () => {
  await stranger?.stop();
  await lab.stop();
});

/** The properties of `document` that the library reads. */
const ofDocument = (
  'currentScript createElement head documentElement querySelectorAll addEventListener cookie referrer title ' +
  'hidden visibilityState prerendering baseURI'
).split(' ');
/**
 * The `window` properties that the library reads and that may be missing. Older browsers do not have the last three.
 */
const ofWindow = '_POSTHOG_REMOTE_CONFIG __millrace posthog CompressionStream PerformanceObserver Temporal'.split(' ');
const lacks = '<script>delete CompressionStream; delete PerformanceObserver; delete window.Temporal;</script>';

const away = () => stranger.url;
const each = (names: string[], html: (name: string) => string) => names.map(html).join('');

const rows: [of: string, html: () => string][] = [
  ['an image named currentScript', () => `<img name="currentScript" src="${away()}/static/array.js">`],
  ['two images named currentScript', () => `<img name="currentScript" src="${away()}/static/a.js">`.repeat(2)],
  ['an embed named currentScript', () => `<embed name="currentScript" src="${away()}/static/array.js">`],
  ['an object named currentScript', () => `<object id="currentScript" data="${away()}/static/array.js"></object>`],
  ['a frame named currentScript', () => `<iframe name="currentScript" src="${away()}/static/array.js"></iframe>`],
  [
    'a form named currentScript',
    () => `<form name="currentScript"><img name="src" src="${away()}/static/array.js"></form>`,
  ],
  ...ofDocument.map((name): [string, () => string] => [`an image named ${name}`, () => `<img name="${name}">`]),
  ...ofWindow.map((name): [string, () => string] => [
    `a link named ${name}`,
    () => `${lacks}<a id="${name}" href="${away()}"></a>`,
  ]),
  ...ofWindow.map((name): [string, () => string] => [
    `a frame from another site named ${name}`,
    () => `${lacks}<iframe name="${name}" src="${away()}"></iframe>`,
  ]),
  ['images with every name of the document', () => each(ofDocument, (name) => `<img name="${name}">`)],
  ['forms with every name of the document', () => each(ofDocument, (name) => `<form name="${name}"></form>`)],
  [
    'two links with every name',
    () => lacks + each(ofWindow, (name) => `<a id="${name}"></a><a id="${name}" name="__SV" href="x:1"></a>`),
  ],
  [
    'a stub made of links',
    () => '<a id="posthog"></a><a id="posthog" name="_i"></a><a id="posthog" name="init" href="x:1"></a>',
  ],
  [
    'settings made of links',
    () =>
      `<form id="_POSTHOG_REMOTE_CONFIG" name="_POSTHOG_REMOTE_CONFIG"><input name="phc_test"></form>
       <a id="_POSTHOG_REMOTE_CONFIG"></a><a id="_POSTHOG_REMOTE_CONFIG" name="phc_test" href="${away()}"></a>`,
  ],
  [
    'settings made of frames, with another endpoint',
    () => {
      const quoted = (html: string) => html.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
      const frame = (name: string, html: string) => `<iframe name="${name}" srcdoc="${quoted(html)}"></iframe>`;
      const endpoint = `x:@${away().slice('http://'.length)}/`;
      const links = `<a id="analytics"></a><a id="analytics" name="endpoint" href="${endpoint}"></a>`;
      return frame('_POSTHOG_REMOTE_CONFIG', frame('phc_test', frame('config', links)));
    },
  ],
  ['a base address elsewhere', () => `<base href="${away()}/">`],
  ['a form named title', () => '<form name="title"><input name="toString" value="typed by a visitor"></form>'],
  [
    'a form named cookie with fields named like string methods',
    () => '<form name="cookie"><input name="toString"><input name="split"></form>',
  ],
  ['a form named referrer', () => '<form name="referrer"><input name="trim"></form>'],
  [
    'links named like the prototype',
    () => '<a id="__proto__"></a><a id="__proto__" name="__millrace" href="x:1"></a><img name="__proto__">',
  ],
];

/** Do not set `api_host`, so that the script URL determines where data is sent. */
const options = `{ opt_out_useragent_filter: true, flushAt: 1, autocapture: true, rageclick: false, capture_performance: true,
  capture_exceptions: true, feature_flag_request_timeout_ms: ${patienceMs} }`;

async function open(html: string, end = ''): Promise<Visit> {
  const path = `/clobbered-${Object.keys(files).length}`;
  const content = `<!doctype html><head><title>Shop</title></head><body>${html}<main><button>Buy</button></main>${end}</body>`;
  files[path] = { type: 'text/html', content };
  return openPage(await lab.browser.newContext(), lab.site.url + path);
}

/**
 * Uses all features of the library. Expects that they work, that data is sent only to the ingest host, and that no
 * error is thrown.
 */
async function expectAllToWork({ page, complaints }: Visit): Promise<void> {
  await page.waitForFunction(() => Object.hasOwn(window, 'posthog') && window.posthog.__loaded === true);
  await waitForSettings(page);
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
  // Ignore requests that the browser sends to load the page's content.
  expect(strangerRequests.filter((path) => !['/', '/static/array.js', '/static/a.js'].includes(path))).toEqual([]);
  expect(complaints.filter((text) => text.startsWith('thrown'))).toEqual([]);
}

test.each(rows)('the library script works on a page with %s', async (_, html) => {
  const visit = await open(html());
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
  /every name|two|stub|createElement|named (head|posthog|currentScript)$/.test(of),
);
test.each(ofSnippet)('the page snippet works on a page with %s', async (_, html) => {
  const snippet = buildPageSnippet('phc_test', { src: `${lab.ingest.url}/static/array.js` });
  const given = snippet.replace("posthog.init('phc_test')", () => `posthog.init('phc_test', ${options})`);
  expect(given).not.toBe(snippet);
  await expectAllToWork(await open(html(), given));
});

test('resolves a relative api_host against the page URL, even if the page sets a base URL', async () => {
  const requested: string[] = [];
  const { page } = await open(`<base href="${away()}/">`, `<script src="${lab.ingest.url}/static/array.js"></script>`);
  page.on('request', (request) => requested.push(request.url()));
  await page.evaluate(`posthog.init('phc_test', { ...${options}, api_host: '/ingest' }); posthog.capture('bought')`);
  await eventually(() => requested.some((address) => address.startsWith(`${lab.site.url}/ingest/`)));
  await eventually(() => requested.some((address) => /\/e\//.test(address)));
  expect(
    requested.filter((address) => !address.startsWith(`${lab.site.url}/ingest/`) && !/\.js$/.test(address)),
  ).toEqual([]);
});
