import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { type Comparison, startComparison } from '../support/start-comparison.ts';
import type { ChainCase } from './chain-case.ts';
import { contentCases } from './content-cases.ts';
import { fieldCases } from './field-cases.ts';
import { gestureCases } from './gesture-cases.ts';
import { optionCases } from './option-cases.ts';
import { targetCases } from './target-cases.ts';
import { treeCases } from './tree-cases.ts';

/**
 * Both libraries run on the same page and receive the same events. Their captured events must be identical, byte for
 * byte.
 */
describe('autocapture compared with posthog-js', () => {
  let browser: Browser;
  let comparison: Comparison;

  beforeAll(async () => {
    browser = await launchChromium();
    comparison = await startComparison(browser);
  });

  afterAll(async () => {
    await comparison?.stop();
    await browser?.close();
  });

  const elementCases = [...targetCases, ...fieldCases, ...contentCases];
  test.each(elementCases.map((row) => [row.of, row] as const))(
    'captures the same events as posthog-js for %s',
    async (_, row) => expectSame(row),
  );
  test.each(optionCases.map((row) => [row.of, row] as const))(
    'captures the same events as posthog-js with %s',
    async (_, row) => expectSame(row),
  );
  test.each(treeCases.map((row) => [row.of, row] as const))(
    'captures the same events as posthog-js in %s',
    async (_, row) => expectSame(row),
  );
  test.each(gestureCases.map((row) => [row.of, row] as const))(
    'captures the same events as posthog-js after %s',
    async (_, row) => expectSame(row),
  );

  test('sends the same element lists as posthog-js unless the settings request only element chains', async () => {
    const older = await startComparison(browser, { elementsChainAsString: false });
    const { ours, reference } = await older.run({
      html: '<form class="a b"><a class="c" href="https://elsewhere.example/">Link <img></a></form>',
      act: `at('img').click()`,
    });
    expect(ours).toEqual(reference);
    expect(ours[0]?.properties.$elements).toHaveLength(5);
    await older.stop();
  });

  async function expectSame({ otherwise, isNothing, ...step }: ChainCase): Promise<void> {
    const { ours, reference } = await comparison.run(step);
    if (!otherwise) {
      expect(ours).toEqual(reference);
      return expect(ours.length > 0).toBe(!isNothing);
    }
    expect(ours).not.toEqual(reference);
    if (typeof otherwise.events === 'function') otherwise.events(ours);
    else expect(ours).toEqual(otherwise.events);
  }
});
