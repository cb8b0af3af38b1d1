import { type Lab, startLab } from '../support/start-lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

const captureMany = (count: number) => {
  const seen: string[] = [];
  const warnings: unknown[] = [];
  const stop = window.posthog.on('eventCaptured', ({ event, properties }) => {
    seen.push(event);
    if (event.startsWith('$$')) warnings.push(properties.$$client_ingestion_warning_message);
  });
  for (let at = 0; at < count; at += 1) window.posthog.capture('step');
  stop();
  return { steps: seen.filter((event) => event === 'step').length, warnings };
};

describe('the event rate limit', () => {
  /** Opens a page with a stopped clock, which the test can advance. */
  async function visitWithStoppedClock(options = {}) {
    const visitor = await lab.browser.newContext();
    await visitor.clock.setFixedTime(new Date('2026-11-22T10:00:00Z'));
    const { page } = await lab.visit({ visitor, options });
    return { visitor, page };
  }

  test('the rate limit allows a burst of 100 events and then 10 per second, and warns once', async () => {
    const { visitor, page } = await visitWithStoppedClock();
    const first = await page.evaluate(captureMany, 105);
    expect(first.steps).toBe(100);
    expect(first.warnings).toEqual([expect.stringContaining('1 event(s) dropped since the last warning')]);
    expect(first.warnings[0]).toContain('10 events per second and 100 events burst limit');
    await visitor.clock.setFixedTime(new Date('2026-11-22T10:00:02Z'));
    const second = await page.evaluate(captureMany, 30);
    expect(second.steps).toBe(20);
    expect(second.warnings).toEqual([expect.stringContaining('5 event(s) dropped')]);
  });

  test('the rate limit continues across page loads, so that it also stops a page that reloads in a loop', async () => {
    const { visitor, page } = await visitWithStoppedClock();
    await page.evaluate(captureMany, 100);
    await page.goto('about:blank');
    const again = await lab.visit({ visitor });
    expect((await again.page.evaluate(captureMany, 10)).steps).toBe(0);
  });

  test('the rate limit works after the clock was set back by a day', async () => {
    const { visitor, page } = await visitWithStoppedClock();
    await page.evaluate(captureMany, 105);
    await visitor.clock.setFixedTime(new Date('2026-11-21T10:00:00Z'));
    await page.evaluate(captureMany, 1);
    await visitor.clock.setFixedTime(new Date('2026-11-21T10:00:02Z'));
    expect((await page.evaluate(captureMany, 30)).steps).toBe(20);
  });

  test('applies the configured rate limit, and can skip it for one event', async () => {
    const { page } = await visitWithStoppedClock({ rate_limiting: { events_per_second: 2, events_burst_limit: 5 } });
    expect((await page.evaluate(captureMany, 10)).steps).toBe(5);
    const event = await page.evaluate(() => window.posthog.capture('free', {}, { skip_client_rate_limiting: true }));
    expect(event).toBeDefined();
  });
});

describe('bot detection', () => {
  const person =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
  const rows: [agent: string, isDriven: boolean, isBot: boolean][] = [
    [person, false, false],
    [person, true, true],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', false, true],
    ['Mozilla/5.0 (compatible; bingbot/2.0)', false, true],
    ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)', false, true],
    ['Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/130.0.0.0 Safari/537.36', false, true],
    [`${person} Chrome-Lighthouse`, false, true],
    ['facebookexternalhit/1.1', false, true],
    [
      'Mozilla/5.0 (Linux; Android 14; CUBOT X70) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36',
      false,
      false,
    ],
  ];
  test.each(rows)(
    'with the user agent %s and navigator.webdriver %p, detects a bot: %p',
    async (userAgent, isDriven, isBot) => {
      const visitor = await lab.browser.newContext({ userAgent });
      await visitor.addInitScript(
        (driven) => Object.defineProperty(navigator, 'webdriver', { value: driven }),
        isDriven,
      );
      const { page, complaints } = await lab.visit({ visitor, options: { opt_out_useragent_filter: false } });
      const seen = await page.evaluate(() => [1, 2].map(() => window.posthog.capture('one') === undefined));
      expect(seen).toEqual([isBot, isBot]);
      expect(complaints.filter((text) => text.includes('Bot detected'))).toHaveLength(isBot ? 1 : 0);
    },
  );
});
