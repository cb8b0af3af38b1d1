import type { ChainCase } from './chain-case.ts';

const press = `const press = (selector, x = 10, y = 10) => at(selector).dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: x, clientY: y }));
  const rest = () => new Promise((resolve) => setTimeout(resolve, 1100));`;
const select = (selector: string) =>
  `const range = document.createRange(); range.selectNodeContents(at('${selector}')); getSelection().removeAllRanges(); getSelection().addRange(range);`;
const clipboard = (type: string, selector: string) =>
  `at('${selector}').dispatchEvent(new ClipboardEvent('${type}', { bubbles: true }));`;
const copying = { autocapture: { capture_copied_text: true } };

export const gestureCases: ChainCase[] = [
  { of: 'two clicks', html: '<button>x</button>', act: `${press} press('button'); press('button')` },
  {
    of: 'three clicks',
    html: '<button>x</button>',
    act: `${press} press('button'); press('button', 20, 20); press('button', 20, 10)`,
  },
  {
    of: 'seven clicks',
    html: '<button>x</button>',
    act: `${press} for (let i = 0; i < 7; i++) press('button')`,
  },
  {
    of: 'three clicks, each some distance from the one before',
    html: '<button>x</button>',
    act: `${press} press('button'); press('button', 30, 19); press('button', 45, 33)`,
  },
  {
    of: 'three clicks far from each other',
    html: '<button>x</button>',
    act: `${press} press('button'); press('button', 40); press('button', 70)`,
  },
  {
    of: 'three slow clicks',
    html: '<button>x</button>',
    act: `${press} press('button'); press('button'); await rest(); press('button')`,
  },
  {
    of: 'three clicks on text without a handler',
    isNothing: true,
    html: '<p>x</p>',
    act: `${press} press('p'); press('p'); press('p')`,
  },
  {
    of: 'two clicks on text and one on a button',
    html: '<p>x</p><button>y</button>',
    act: `${press} press('p'); press('p'); press('button')`,
  },
  {
    of: 'three clicks with rage clicks disabled',
    html: '<button>x</button>',
    act: `${press} press('button'); press('button'); press('button')`,
    options: { rageclick: false },
  },
  {
    of: 'three clicks on an element with ph-no-rageclick',
    html: '<div class="ph-no-rageclick"><button>+</button></div>',
    act: `${press} press('button'); press('button'); press('button')`,
  },
  {
    of: 'three clicks with an own list of ignored selectors',
    html: '<button class="ph-no-rageclick">x</button><button class="more">y</button>',
    act: `${press} for (const one of ['.ph-no-rageclick', '.more']) { await rest(); press(one); press(one); press(one); }`,
    options: { rageclick: { css_selector_ignorelist: ['.more'] } },
  },
  {
    of: 'a double click',
    html: '<button>x</button>',
    act: `at('button').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))`,
    isNothing: true,
  },

  {
    of: 'a copy after the option was disabled',
    html: '<p>Copy me</p>',
    act: `${select('p')} ${clipboard('copy', 'p')}`,
    otherwise: { because: 'this library follows a changed option', events: [] },
  },
  {
    of: 'a copy',
    html: '<p>Copy  me\n now 4111111111111111</p>',
    act: `${select('p')} ${clipboard('copy', 'p')}`,
    options: copying,
  },
  { of: 'a cut', html: '<p>Cut me</p>', act: `${select('p')} ${clipboard('cut', 'p')}`, options: copying },
  { of: 'a paste', html: '<input name="q">', act: clipboard('paste', 'input'), options: copying },
  {
    of: 'a paste in a form',
    html: '<form><textarea></textarea></form>',
    act: clipboard('paste', 'textarea'),
    options: copying,
  },
  {
    of: 'a copy without a selection',
    isNothing: true,
    html: '<p>x</p>',
    act: `getSelection().removeAllRanges(); ${clipboard('copy', 'p')}`,
    options: copying,
  },
  {
    of: 'a copy if only clicks are enabled',
    html: '<p>Copy</p>',
    act: `${select('p')} ${clipboard('copy', 'p')}`,
    options: { autocapture: { capture_copied_text: true, dom_event_allowlist: ['click'] } },
  },
  {
    of: 'a copy from an element with ph-no-capture',
    isNothing: true,
    html: '<p class="ph-no-capture">Copy</p>',
    act: `${select('p')} ${clipboard('copy', 'p')}`,
    options: copying,
  },
  ...[
    ['masked texts', '<p>secret</p>', 'p', { mask_all_text: true }],
    ['an element with ph-sensitive', '<p class="ph-sensitive">secret</p>', 'p', {}],
    ['an element that contains ph-sensitive', '<p><b class="ph-sensitive">secret</b> x</p>', 'p', {}],
    ['an editor', '<p contenteditable>secret</p>', 'p', {}],
    ['a paragraph in an editor', '<div contenteditable="true"><p>secret</p></div>', 'p', {}],
  ].map(([of, html, selector, options]) => ({
    of: `a copy from ${of}`,
    html: html as string,
    act: `${select(selector as string)} ${clipboard('copy', selector as string)}`,
    options: { ...copying, ...(options as object) },
    otherwise: { because: 'text that is not captured from the page is not captured from the clipboard', events: [] },
  })),
];
