import type { Captured } from '../support/start-comparison.ts';
import { type ChainCase, change, click, repeatText } from './chain-case.ts';

const icon = '<svg class="icon big" viewBox="0 0 9 9"><g><path id="p" d="M0 0h9v9z"/></g></svg>';

export const targetCases: ChainCase[] = [
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
    of: 'a property in a data attribute',
    html: '<div data-ph-capture-attribute-plan="pro" data-ph-capture-attribute-at="outer"><button data-ph-capture-attribute-at="inner" data-ph-capture-attribute-empty="">Go</button></div>',
    act: click('button'),
  },
  {
    of: 'such a property named like a property of every object',
    html: '<button data-ph-capture-attribute-toString="yes" data-ph-capture-attribute-constructor="no">Go</button>',
    act: click('button'),
  },
  {
    of: 'such a property with a card number',
    html: '<button data-ph-capture-attribute-n="4111 1111 1111 1111">Go</button>',
    act: click('button'),
  },
  {
    of: 'such a property inside ph-sensitive',
    html: '<div class="ph-sensitive" data-ph-capture-attribute-a="1"><button data-ph-capture-attribute-b="2">Go</button></div>',
    act: click('button'),
  },
  { of: 'a link to a part of the page', html: '<a href="#part">Part</a>', act: click('a') },
  {
    of: 'an external link',
    html: '<a href="https://elsewhere.example/page?a=1#b" onclick="return false">Out</a>',
    act: click('a'),
  },
  {
    of: 'a word in an external link',
    html: '<a href="//elsewhere.example" onclick="return false">Out <em class="strong">there</em></a>',
    act: click('em'),
  },
  {
    of: 'a change in an external link',
    html: '<a href="//elsewhere.example"><input type="checkbox"></a>',
    act: change('input'),
  },
  { of: 'a mailto link', html: '<a href="mailto:a@b.example" onclick="return false">Mail</a>', act: click('a') },
  { of: 'a javascript link', html: '<a href="javascript:void 0">Run</a>', act: click('a') },
  {
    of: 'a link with an invalid address',
    html: '<a href="http://[::bad" onclick="return false">Bad</a>',
    act: click('a'),
  },
  { of: 'a link without an address', html: '<a>Nowhere</a>', act: click('a') },
  { of: 'a picture in a link', html: '<a href="#x"><img alt="A shoe" src="data:," width="20"></a>', act: click('img') },
  {
    of: 'a link in a link',
    html: '<a id="outer" href="#outer"><span>x</span></a>',
    act: `const inner = document.createElement('a'); inner.href = '#inner'; inner.textContent = 'in'; at('span').append(inner); inner.click()`,
  },
  {
    of: 'a long address',
    html: `<a href="#${repeatText(3000)}">Long</a>`,
    act: click('a'),
    otherwise: {
      because:
        'the captured address is cut like the `href` attribute, because a whole data: address would be sent otherwise',
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
    of: 'a link in an SVG image',
    html: '<svg><a href="#s" xlink:href="#t"><text>Go</text><linearGradient/></a></svg>',
    act: `at('text').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'an SVG image with a hand cursor',
    html: `<div style="cursor:pointer">${icon}</div>`,
    act: `at('svg').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  { of: 'a label', html: '<label for="n">Name</label><input id="n" type="checkbox">', act: click('label') },
  {
    of: 'a submitted form',
    html: '<form id="f" name="order" action="/x" onsubmit="return false"><b>Order</b> form <input name="q"></form>',
    act: `at('form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))`,
  },
  { of: 'a clicked form', isNothing: true, html: '<form>Order</form>', act: click('form') },
  { of: 'a clicked form with a hand cursor', html: '<form style="cursor:pointer">Order</form>', act: click('form') },
  { of: 'a paragraph in a form', html: '<form><p>Order</p></form>', act: click('p') },
  { of: 'a paragraph', isNothing: true, html: '<p>Read me</p>', act: click('p') },
  { of: 'a paragraph with a hand cursor', html: '<p style="cursor:pointer">Read <b>me</b> now</p>', act: click('p') },
  {
    of: 'a paragraph inside an element with a hand cursor',
    html: '<div style="cursor:pointer"><p style="cursor:default">Read me</p></div>',
    act: click('p'),
  },
  { of: 'the body', isNothing: true, html: '', act: 'document.body.click()' },
  {
    of: 'the body with a hand cursor',
    html: '',
    act: `document.body.style.cursor = 'pointer'; document.body.click(); document.body.removeAttribute('style')`,
  },
  { of: 'the document element', isNothing: true, html: '', act: 'document.documentElement.click()' },
  {
    of: 'the document',
    isNothing: true,
    html: '',
    act: `document.dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'a text node',
    html: '<button>Text</button>',
    act: `at('button').firstChild.dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'a comment node',
    html: '<button><!--c-->Text</button>',
    act: `at('button').firstChild.dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
    otherwise: {
      because: 'a node in a button belongs to the button',
      events: (events) => expect(events).toHaveLength(1),
    },
  },
  {
    of: 'an editor',
    html: '<div contenteditable="true" id="e" title="t" aria-label="Notes">typed</div>',
    act: click('#e'),
  },
  { of: 'a change event of a button', isNothing: true, html: '<button>x</button>', act: change('button') },
  { of: 'a change event of a link', isNothing: true, html: '<a href="#x">x</a>', act: change('a') },
  {
    of: 'a summary',
    html: '<details><summary style="cursor:pointer">More</summary>text</details>',
    act: click('summary'),
  },
  { of: 'a custom element', html: '<x-item class="y" style="cursor:pointer">Item</x-item>', act: click('x-item') },
  { of: 'an element in upper case', html: '<BUTTON ID="UP" CLASS="Big">Up</BUTTON>', act: click('button') },
];

function expectChain(events: Captured, check: (chain: string) => void): void {
  expect(events).toHaveLength(1);
  check(String(events[0]?.properties.$elements_chain));
}
