import type { ChainCase } from './chain-case.ts';

const page = `<form id="f" onsubmit="return false" class="box"><label class="own">Name <input name="n" value="typed"></label>
  <a id="out" class="own nav" href="https://elsewhere.example/?q=1" title="t" data-attr="d" onclick="return false">Out <span>there</span></a>
  <button id="go" data-ph-capture-attribute-k="v" aria-label="l">Go</button></form>`;
const act = `at('#out').click(); at('#go').click(); at('label').click(); at('input').dispatchEvent(new Event('change', { bubbles: true }));
  at('form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })); at('span').click();`;
const row = (of: string, options: Record<string, unknown>, isNothing?: true): ChainCase => ({
  of,
  html: page,
  act,
  options,
  ...(isNothing && { isNothing }),
});
const autocapture = (of: string, chosen: Record<string, unknown>, isNothing?: true) =>
  row(of, { autocapture: chosen }, isNothing);

/** What an application may choose, on one page with one visit. */
export const optionCases: ChainCase[] = [
  row('nothing chosen', {}),
  row('autocapture off', { autocapture: false }, true),
  row('texts masked', { mask_all_text: true }),
  row('attributes masked', { mask_all_element_attributes: true }),
  row('both masked', { mask_all_text: true, mask_all_element_attributes: true }),
  autocapture('an object without a choice', {}),
  autocapture('addresses allowed by a text', { url_allowlist: ['127.0.0.1'] }),
  autocapture('other addresses allowed', { url_allowlist: ['elsewhere'] }, true),
  autocapture('addresses by patterns', { url_allowlist: ['x', '^http://127\\.0'] }),
  autocapture('no addresses allowed', { url_allowlist: [] }, true),
  autocapture('addresses ignored', { url_ignorelist: ['127'] }, true),
  autocapture('other addresses ignored', { url_ignorelist: ['elsewhere'] }),
  autocapture('only clicks', { dom_event_allowlist: ['click'] }),
  autocapture('only changes and submits', { dom_event_allowlist: ['change', 'submit'] }),
  autocapture('no DOM events', { dom_event_allowlist: [] }, true),
  autocapture('only buttons', { element_allowlist: ['button'] }),
  autocapture('only what is in forms', { element_allowlist: ['form'] }),
  autocapture('no elements', { element_allowlist: [] }, true),
  autocapture('selectors', { css_selector_allowlist: ['.own', '#nothing'] }),
  autocapture('a selector of what is around', { css_selector_allowlist: ['.box'] }),
  autocapture('a selector that is none', { css_selector_allowlist: ['[['] }, true),
  autocapture('no selectors', { css_selector_allowlist: [] }, true),
  autocapture('selectors ignored', { css_selector_ignorelist: ['.own', '[['] }),
  autocapture('attributes ignored', { element_attribute_ignorelist: ['title', 'class', 'data-attr'] }),
  autocapture('href ignored', { element_attribute_ignorelist: ['href'] }),
  {
    of: 'another list of what is ignored',
    html: '<button class="ph-no-autocapture">x</button><button class="mine">y</button><button class="ph-no-capture">z</button>',
    act: `for (const one of stage.children) one.click()`,
    options: { autocapture: { css_selector_ignorelist: ['.mine'] } },
  },
  {
    of: 'an icon in a button, attributes masked',
    html: '<button class="c" id="i"><svg><path/></svg>Save</button>',
    act: `at('path').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
    options: { mask_all_element_attributes: true },
  },
  {
    of: 'an icon in a button, texts masked',
    html: '<button class="c" id="i"><svg><path/></svg>Save</button>',
    act: `at('path').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
    options: { mask_all_text: true },
  },
];
