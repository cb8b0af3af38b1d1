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

export const optionCases: ChainCase[] = [
  row('no options', {}),
  row('autocapture disabled', { autocapture: false }, true),
  row('masked texts', { mask_all_text: true }),
  row('masked attributes', { mask_all_element_attributes: true }),
  row('masked texts and attributes', { mask_all_text: true, mask_all_element_attributes: true }),
  autocapture('an empty object', {}),
  autocapture('a text that the address contains', { url_allowlist: ['127.0.0.1'] }),
  autocapture('a text that the address does not contain', { url_allowlist: ['elsewhere'] }, true),
  autocapture('a pattern that matches the address', { url_allowlist: ['x', '^http://127\\.0'] }),
  autocapture('no allowed addresses', { url_allowlist: [] }, true),
  autocapture('an ignored address', { url_ignorelist: ['127'] }, true),
  autocapture('another address ignored', { url_ignorelist: ['elsewhere'] }),
  autocapture('only clicks', { dom_event_allowlist: ['click'] }),
  autocapture('only changes and submits', { dom_event_allowlist: ['change', 'submit'] }),
  autocapture('no DOM events', { dom_event_allowlist: [] }, true),
  autocapture('only buttons', { element_allowlist: ['button'] }),
  autocapture('only elements in forms', { element_allowlist: ['form'] }),
  autocapture('no elements', { element_allowlist: [] }, true),
  autocapture('selectors', { css_selector_allowlist: ['.own', '#nothing'] }),
  autocapture('a selector of a surrounding element', { css_selector_allowlist: ['.box'] }),
  autocapture('an invalid selector', { css_selector_allowlist: ['[['] }, true),
  autocapture('no selectors', { css_selector_allowlist: [] }, true),
  autocapture('ignored selectors', { css_selector_ignorelist: ['.own', '[['] }),
  autocapture('ignored attributes', { element_attribute_ignorelist: ['title', 'class', 'data-attr'] }),
  autocapture('ignored href', { element_attribute_ignorelist: ['href'] }),
  {
    of: 'another list of ignored selectors',
    html: '<button class="ph-no-autocapture">x</button><button class="mine">y</button><button class="ph-no-capture">z</button>',
    act: `for (const one of stage.children) one.click()`,
    options: { autocapture: { css_selector_ignorelist: ['.mine'] } },
  },
  {
    of: 'an icon in a button with masked attributes',
    html: '<button class="c" id="i"><svg><path/></svg>Save</button>',
    act: `at('path').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
    options: { mask_all_element_attributes: true },
  },
  {
    of: 'an icon in a button with masked texts',
    html: '<button class="c" id="i"><svg><path/></svg>Save</button>',
    act: `at('path').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
    options: { mask_all_text: true },
  },
];
