import { reactVersions } from './support/bundle-page.ts';
import { type KitPages, openKit } from './support/open-kit.ts';

let pages: KitPages;
beforeAll(async () => {
  pages = await openKit();
});
afterAll(() => pages.close());
afterEach(() => expect(pages.complaints()).toEqual([]));

const shown = [
  'survey shown',
  { $survey_id: 'survey-1', sessionRecordingUrl: 'https://replay.example/1', place: 'docs' },
];

describe.each(reactVersions)('useThumbSurvey on React %s', (react) => {
  it.each([
    ['up', 1],
    ['down', 2],
  ] as const)('captures a survey view once, and records only the first response: %s', async (response, number) => {
    const seen = await pages.page(react).evaluate((response) => {
      const { act, createElement: h } = kit.react;
      const client = kit.createRecordingClient();
      const responses: string[] = [];
      let survey: ReturnType<typeof kit.useThumbSurvey> | undefined;
      function Survey() {
        survey = kit.useThumbSurvey({
          surveyId: 'survey-1',
          properties: { place: 'docs' },
          onResponse: (response) => responses.push(response),
        });
        return h('nav', { ref: survey.triggerRef }, survey.response);
      }
      const tree = () => h(kit.PostHogProvider, { client }, h(Survey));
      const { element, render, unmount } = kit.mount(tree(), { isStrict: true });
      render(tree());
      act(() => {
        survey?.respond(response);
        survey?.respond('up');
        survey?.respond('down');
      });
      const [[id, options] = []] = client.callsOf('displaySurvey') as [string, { selector: string }][];
      const trigger = options && element.querySelector(options.selector)?.tagName;
      const text = element.textContent;
      unmount();
      const { selector, ...rest } = options ?? { selector: '' };
      return {
        captured: client.callsOf('capture'),
        displayed: client.callsOf('displaySurvey').length,
        hasTrackShown: survey?.trackShown !== undefined,
        ...{ id, rest, trigger, text, responses },
      };
    }, response);
    expect(seen).toEqual({
      captured: [shown],
      displayed: 1,
      hasTrackShown: false,
      id: 'survey-1',
      rest: {
        displayType: 'popover',
        ignoreConditions: true,
        ignoreDelay: true,
        skipShownEvent: true,
        initialResponses: { 0: number },
        position: 'next_to_trigger',
        properties: { place: 'docs' },
      },
      trigger: 'NAV',
      text: response,
      responses: [response],
    });
  });

  it('captures a survey view only when the application calls trackShown', async () => {
    const captured = await pages.page(react).evaluate(() => {
      const { createElement: h } = kit.react;
      const client = kit.createRecordingClient();
      let survey: ReturnType<typeof kit.useThumbSurvey> | undefined;
      function Survey() {
        survey = kit.useThumbSurvey({
          surveyId: 'survey-1',
          properties: { place: 'docs' },
          disableAutoShownTracking: true,
        });
        return null;
      }
      const { unmount } = kit.mount(h(kit.PostHogProvider, { client }, h(Survey)), { isStrict: true });
      const before = client.callsOf('capture').length;
      survey?.trackShown?.();
      survey?.trackShown?.();
      unmount();
      return [before, ...client.callsOf('capture')];
    });
    expect(captured).toEqual([0, shown]);
  });
});
