import type { Captured, Step } from '../support/start-comparison.ts';

export interface ChainCase extends Step {
  of: string;
  /** Neither captures anything. */
  isNothing?: true;
  /** Where this library captures otherwise on purpose: why, and what. */
  otherwise?: { because: string; events: Captured | ((events: Captured) => void) };
}

const click = (selector: string) => `at('${selector}').click()`;
const change = (selector: string) => `at('${selector}').dispatchEvent(new Event('change', { bubbles: true }))`;
const long = (count: number, unit = 'x') => unit.repeat(count);
const icon = '<svg class="icon big" viewBox="0 0 9 9"><g><path id="p" d="M0 0h9v9z"/></g></svg>';

/** A page, what a visitor does on it: what is captured is what the reference's library captures. */
export const chainCases: ChainCase[] = [
  // Targets
  {
    of: 'a button',
    html: '<button id="b1" class="btn primary" data-attr="cta-buy">Buy now</button>',
    act: click('button'),
  },
  {
    of: 'a span in a button',
    html: '<button>Add <span>to <b>the</b> <span>cart</span></span> now</button>',
    act: click('b'),
  },
  {
    of: 'an own property',
    html: '<div data-ph-capture-attribute-plan="pro" data-ph-capture-attribute-at="outer"><button data-ph-capture-attribute-at="inner" data-ph-capture-attribute-empty="">Go</button></div>',
    act: click('button'),
  },
  {
    of: 'an own property called as what every object has',
    html: '<button data-ph-capture-attribute-toString="yes" data-ph-capture-attribute-constructor="no">Go</button>',
    act: click('button'),
  },
  {
    of: 'an own property with a card number',
    html: '<button data-ph-capture-attribute-n="4111 1111 1111 1111">Go</button>',
    act: click('button'),
  },
  {
    of: 'an own property in something sensitive',
    html: '<div class="ph-sensitive" data-ph-capture-attribute-a="1"><button data-ph-capture-attribute-b="2">Go</button></div>',
    act: click('button'),
  },
  { of: 'a link to the page', html: '<a href="#part">Part</a>', act: click('a') },
  {
    of: 'a link elsewhere',
    html: '<a href="https://elsewhere.example/page?a=1#b" onclick="return false">Out</a>',
    act: click('a'),
  },
  {
    of: 'a word in a link elsewhere',
    html: '<a href="//elsewhere.example" onclick="return false">Out <em class="strong">there</em></a>',
    act: click('em'),
  },
  {
    of: 'a change in a link elsewhere',
    html: '<a href="//elsewhere.example"><input type="checkbox"></a>',
    act: change('input'),
  },
  { of: 'a link by mail', html: '<a href="mailto:a@b.example" onclick="return false">Mail</a>', act: click('a') },
  { of: 'a link that is a script', html: '<a href="javascript:void 0">Run</a>', act: click('a') },
  { of: 'a link that is no address', html: '<a href="http://[::bad" onclick="return false">Bad</a>', act: click('a') },
  { of: 'a link without address', html: '<a>Nowhere</a>', act: click('a') },
  { of: 'a picture in a link', html: '<a href="#x"><img alt="A shoe" src="data:," width="20"></a>', act: click('img') },
  {
    of: 'a link in a link',
    html: '<a id="outer" href="#outer"><span>x</span></a>',
    act: `const inner = document.createElement('a'); inner.href = '#inner'; inner.textContent = 'in'; at('span').append(inner); inner.click()`,
  },
  {
    of: 'a long address',
    html: `<a href="#${long(3000)}">Long</a>`,
    act: click('a'),
    otherwise: {
      because: 'an address that is an attribute ends as its `href` does: the whole of a data: address would be sent',
      events: (events) =>
        expectChain(events, (chain) => expect(chain.match(/attr__href="#x*"/)?.[0].length).toBe(2048 + 13)),
    },
  },
  {
    of: 'an icon in a button',
    html: `<button class="round"> ${icon} Save</button>`,
    act: `at('path').dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }))`,
  },
  {
    of: 'an icon in a link',
    html: `<p><a href="#i">${icon}<span>Save</span></a></p>`,
    act: `at('g').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'an icon in a label',
    html: `<label>${icon}Pick</label>`,
    act: `at('path').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'a sensitive icon in a button',
    html: `<button>Save<i class="ph-sensitive">${icon}</i></button>`,
    act: `at('path').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'a link within a drawing',
    html: '<svg><a href="#s" xlink:href="#t"><text>Go</text><linearGradient/></a></svg>',
    act: `at('text').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'a drawing with the hand',
    html: `<div style="cursor:pointer">${icon}</div>`,
    act: `at('svg').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  { of: 'a label', html: '<label for="n">Name</label><input id="n" type="checkbox">', act: click('label') },
  {
    of: 'a form sent',
    html: '<form id="f" name="order" action="/x" onsubmit="return false"><b>Order</b> form <input name="q"></form>',
    act: `at('form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))`,
  },
  { of: 'a form clicked', isNothing: true, html: '<form>Order</form>', act: click('form') },
  { of: 'a form with the hand clicked', html: '<form style="cursor:pointer">Order</form>', act: click('form') },
  { of: 'a paragraph in a form', html: '<form><p>Order</p></form>', act: click('p') },
  { of: 'a paragraph', isNothing: true, html: '<p>Read me</p>', act: click('p') },
  { of: 'a paragraph with the hand', html: '<p style="cursor:pointer">Read <b>me</b> now</p>', act: click('p') },
  {
    of: 'a paragraph in one with the hand',
    html: '<div style="cursor:pointer"><p style="cursor:default">Read me</p></div>',
    act: click('p'),
  },
  { of: 'the body', isNothing: true, html: '', act: 'document.body.click()' },
  {
    of: 'the body with the hand',
    html: '',
    act: `document.body.style.cursor = 'pointer'; document.body.click(); document.body.removeAttribute('style')`,
  },
  { of: 'the document', isNothing: true, html: '', act: 'document.documentElement.click()' },
  {
    of: 'the document itself',
    isNothing: true,
    html: '',
    act: `document.dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'a text',
    html: '<button>Text</button>',
    act: `at('button').firstChild.dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'a comment',
    html: '<button><!--c-->Text</button>',
    act: `at('button').firstChild.dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
    otherwise: { because: 'what is in a button is of it', events: (events) => expect(events).toHaveLength(1) },
  },
  {
    of: 'an editor',
    html: '<div contenteditable="true" id="e" title="t" aria-label="Notes">typed</div>',
    act: click('#e'),
  },
  { of: 'a change of a button', isNothing: true, html: '<button>x</button>', act: change('button') },
  { of: 'a change of a link', isNothing: true, html: '<a href="#x">x</a>', act: change('a') },
  {
    of: 'a summary',
    html: '<details><summary style="cursor:pointer">More</summary>text</details>',
    act: click('summary'),
  },
  { of: 'an element of its own', html: '<x-item class="y" style="cursor:pointer">Item</x-item>', act: click('x-item') },
  { of: 'an upper-case element', html: '<BUTTON ID="UP" CLASS="Big">Up</BUTTON>', act: click('button') },

  // Fields
  ...[
    'text',
    'search',
    'email',
    'url',
    'tel',
    'number',
    'date',
    'range',
    'color',
    'radio',
    'file',
    'password',
    'hidden',
    'image',
    'nonsense',
    '',
  ].map((type) => ({
    of: `an input of type "${type}"`,
    html: `<input type="${type}" name="field" id="i" class="wide" aria-label="Field" placeholder="p" ${type === 'file' ? '' : 'value="1"'} title="t" data-attr="q">`,
    act: `${change('input')}; at('input').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  })),
  ...['button', 'submit', 'reset', 'checkbox', 'CHECKBOX'].map((type) => ({
    of: `an input of type "${type}"`,
    html: `<input type="${type}" name="field" id="i" class="wide" value="Go on" title="t" checked>`,
    act: `${click('input')}; ${change('input')}`,
  })),
  { of: 'an input without a type', html: '<input value="v" name="n">', act: click('input') },
  {
    of: 'a choice',
    html: '<select name="size" data-x="1"><option>Small</option><option selected>Large</option></select>',
    act: `${click('select')}; ${change('select')}`,
  },
  {
    of: 'one of a list',
    html: '<select size="3"><option value="a" class="first">One</option></select>',
    act: click('option'),
    otherwise: {
      because: 'what is chosen is the value of a field',
      events: [
        {
          event: '$autocapture',
          properties: {
            $event_type: 'click',
            $ce_version: 1,
            $elements_chain:
              'option.first:attr__class="first"nth-child="1"nth-of-type="1";select:nth-child="1"nth-of-type="1";div:attr__id="stage"attr_id="stage"nth-child="1"nth-of-type="1";body:nth-child="2"nth-of-type="1"',
          },
        },
      ],
    },
  },
  {
    of: 'a text area',
    html: '<textarea name="note" rows="3">typed</textarea>',
    act: `${click('textarea')}; ${change('textarea')}`,
  },
  ...[
    'card-number',
    'cc',
    'cc_exp',
    'user[password]',
    'CVC',
    'my-ssn',
    'routingNumber',
    'seccode',
    'expiry',
    'accept',
    'plain',
  ].map((name) => ({
    of: `a button named ${name}`,
    html: `<button name="${name}" data-ph-capture-attribute-p="1">Text</button><button id="${name}">Text</button>`,
    act: `${click(`[name="${name}"]`)}; at('[id="${name}"]').click()`,
  })),
  {
    of: 'a secret one that is to be read',
    html: '<button name="password" class="ph-include">Show</button>',
    act: click('button'),
  },
  {
    of: 'something sensitive that is to be read',
    html: '<button class="ph-sensitive ph-include">Show</button>',
    act: click('button'),
  },

  // Markers
  { of: 'no capture', isNothing: true, html: '<button class="ph-no-capture">x</button>', act: click('button') },
  {
    of: 'no capture around',
    isNothing: true,
    html: '<div class="a ph-no-capture b"><button>x</button></div>',
    act: click('button'),
  },
  {
    of: 'no capture within',
    html: '<button>x <span class="ph-no-capture">secret</span></button>',
    act: click('button'),
  },
  { of: 'no autocapture', isNothing: true, html: '<button class="ph-no-autocapture">x</button>', act: click('button') },
  {
    of: 'no autocapture around',
    isNothing: true,
    html: '<div data-ph-no-autocapture><button>x</button></div>',
    act: click('button'),
  },
  { of: 'sensitive', html: '<button class="ph-sensitive" id="s" title="t">x</button>', act: click('button') },
  {
    of: 'sensitive around',
    html: '<div class="ph-sensitive"><a href="https://elsewhere.example/" onclick="return false">x</a></div>',
    act: click('a'),
  },
  {
    of: 'sensitive within',
    html: '<button>x <span class="ph-sensitive">secret</span> y</button>',
    act: click('button'),
  },
  { of: 'a class that only begins as one', html: '<button class="ph-no-capture-not">x</button>', act: click('button') },

  // Texts
  { of: 'white space', html: '<button>  Buy\n\n   it \t now\u00a0 please  </button>', act: click('button') },
  { of: 'several texts', html: '<a href="#x">One <b>two</b> three <i>four</i> five</a>', act: click('a') },
  {
    of: 'spans in spans',
    html: '<a href="#x">One <span>two <span>three <b>x</b> <span>four</span></span></span> five<span></span></a>',
    act: click('a'),
  },
  { of: 'a long text', html: `<button>${long(300, 'ab ')}</button>`, act: click('button') },
  { of: 'two long texts', html: `<button>${long(300)}<br>${long(300, 'y')}</button>`, act: click('button') },
  {
    of: 'many long texts',
    html: `<p style="cursor:pointer">${long(6, `${long(300)}<br>`)}</p>`,
    act: click('p'),
    otherwise: {
      because: 'a text ends after 1024 characters, of the target as of the others',
      events: (events) => expect(events[0]?.properties.$el_text).toHaveLength(1027),
    },
  },
  { of: 'a text in several scripts', html: '<button>Größe ñ 漢字 👍🏽 עברית</button>', act: click('button') },
  {
    of: 'quotes',
    html: `<button title='say "hi"' data-x='\\"a\\' data-json='{"a":"b;c=\\"d\\""}'>He said "no"; a="b"</button>`,
    act: click('button'),
  },
  {
    of: 'markup in a text',
    html: '<button>&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</button>',
    act: click('button'),
  },
  ...[
    '4111111111111111',
    '378282246310005',
    '6011111111111117',
    '3530111333300000',
    '123-45-6789',
    '123456789',
    '1234567890',
    '12345',
    'id 123-45-6789 x',
    'a4111111111111111',
  ].map((number) => ({
    of: `the number ${number}`,
    html: `<button title="${number}">${number}</button><p style="cursor:pointer">n ${number} m</p>`,
    act: `${click('button')}; ${click('p')}`,
  })),
  {
    of: 'a card number in groups, alone',
    html: '<button title="4111 1111 1111 1111">4111 1111 1111 1111</button>',
    act: click('button'),
  },
  {
    of: 'a card number in groups',
    html: '<p style="cursor:pointer">Card 4111 1111 1111 1111 ok</p>',
    act: click('p'),
    otherwise: {
      because: 'a number in groups is the same number',
      events: (events) => expect(events[0]?.properties.$el_text).toBe('Card ok'),
    },
  },
  {
    of: 'a card of the second series',
    html: '<p style="cursor:pointer">2223003122003222</p>',
    act: click('p'),
    otherwise: {
      because: 'cards begin with 2 as well since 2017',
      events: (events) => expect(events[0]?.properties).not.toHaveProperty('$el_text'),
    },
  },

  // Attributes
  { of: 'many classes', html: '<button class=" z  b\n a\tz c\'d e&quot;f ">x</button>', act: click('button') },
  {
    of: 'many long classes',
    html: `<button class="${Array.from({ length: 200 }, (_, at) => `class-${at}`).join(' ')}">x</button>`,
    act: click('button'),
  },
  { of: 'an empty class and id', html: '<button class="" id="">x</button>', act: click('button') },
  {
    of: 'attributes of frameworks',
    html: '<button _ngcontent-abc="" _nghost-x="" @click="go" :key="k" v-on:x="y" [prop]="p" (ev)="e">x</button>',
    act: click('button'),
  },
  { of: 'a long attribute', html: `<button title="${long(1500)}">x</button>`, act: click('button') },
  {
    of: 'attributes without a value',
    html: '<button disabled="" hidden autofocus style="color: red">x</button>',
    act: `at('button').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'attributes in any order',
    html: '<button z="1" b="2" A="3" data-2="x" data-10="y" text="t" nth-child="9" href="h">x</button>',
    act: click('button'),
  },
  {
    of: 'places',
    html: '<b></b>text<i></i><!----><b></b><button>1</button><i></i><button>2</button><button id="it">3</button><b></b>',
    act: click('#it'),
  },
  {
    of: 'places of drawings',
    html: '<svg><g/><rect/><g/><a id="it" style="cursor:pointer"/><A/></svg>',
    act: `at('#it').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
];

function expectChain(events: Captured, check: (chain: string) => void): void {
  expect(events).toHaveLength(1);
  check(String(events[0]?.properties.$elements_chain));
}
