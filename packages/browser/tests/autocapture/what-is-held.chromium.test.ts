import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { waitForSettings } from '../support/settings-known.ts';
import { type Lab, startLab } from '../support/start-lab.ts';

/**
 * Checks that autocapture never sends field values, card numbers or social security numbers, even if the page repeats
 * them outside the field. Each row contains the title, the page, the text that must not be sent, and the action (by
 * default, a click on `#it`). The event must be sent, but without that text.
 */
type Row = [of: string, html: string, notSent: string | string[], act?: string];

const card = '4111111111111111';
const grouped = (by: string) => card.replace(/(\d{4})(?=\d)/g, `$1${by}`);
const [mail, name] = ['ada@example.com', 'Ada Lovelace'];
const form = (inner: string, more = '') =>
  `<form onsubmit="return false">${inner}<input value="${mail}">${more}</form>`;
const button = (attributes: string, text = 'Pay') => `<button id="it" type="button" ${attributes}>${text}</button>`;

const rows: Row[] = [
  // Card numbers and social security numbers
  ['a card in a text', button('', `Pay ${card} now`), card],
  ['a card as the whole text', button('', card), card],
  ['a card as an attribute', button(`title="${card}"`), card],
  ['a social security number in a text', button('', 'SSN 123-45-6789'), '6789'],
  ['a social security number as an attribute', button('data-ssn="123-45-6789"'), '6789'],
  ['a card as the target of a link', `<a id="it" href="#${card}" onclick="return false">Pay</a>`, card],
  ['a card in a label for screen readers', button(`aria-label="Pay with card ${card}"`), card],
  ['a card in a title', button(`title="Pay with ${grouped(' ')}"`), '4111'],
  [
    'a card in an address',
    `<a id="it" href="https://elsewhere.example/pay/${card}?x=1" onclick="return false">Pay</a>`,
    card,
  ],
  [
    'a card in an encoded address',
    `<a id="it" href="/pay?card=${grouped('%20')}" onclick="return false">Pay</a>`,
    '4111',
  ],
  [
    'a card in an address with encoded digits',
    `<a id="it" href="/pay?card=%34%31${card.slice(2)}" onclick="return false">Pay</a>`,
    '1111111',
  ],
  [
    'a card in a mailto address',
    `<a id="it" href="mailto:a@b.example?body=${grouped('-')}" onclick="return false">Pay</a>`,
    '4111',
  ],
  [
    'a card split into spans',
    button(
      '',
      grouped(' ')
        .split(' ')
        .map((part) => `<span>${part}</span>`)
        .join(''),
    ),
    '1111',
  ],
  ['a card split into nested spans', button('', '<span>4111<span>1111<span>1111</span>1111</span></span>'), '1111'],
  [
    'a card with each digit in a span',
    button('', [...card].map((digit) => `<span>${digit}</span>`).join('')),
    '1 1 1 1',
  ],
  ['a card split into texts and spans', button('', '4111 1111 <span>1111</span> <span>1111</span>'), '1111'],
  ['a card split into elements', `<label>4111 1111 <button id="it" type="button">1111 1111</button></label>`, '1111'],
  ['a card with non-breaking spaces', button('', `Card ${grouped('\u00a0')}`), '4111'],
  ['a card with thin spaces', button(`title="${grouped('\u2009')}"`), '4111'],
  ['a card with dots', button('', `Card ${grouped('.')}`), '4111'],
  ['a card with hyphens', button('', `Card ${grouped('-')}`), '4111'],
  ['a card with dashes', button('', `Card ${grouped(' – ')}`), '4111'],
  ['a card with slashes', button('', `Card ${grouped('/')}`), '4111'],
  ['a card with invisible characters', button(`title="${grouped('\u200b')}"`, grouped('\u00ad')), '4111'],
  [
    'a card in full-width digits',
    button(
      '',
      card.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ),
    '１１１１',
  ],
  ['a card after another number', button('', `2 × ${grouped(' ')}`), '4111'],
  ['a card after letters', button(`data-card="no${card}"`), card],
  ['a card in JSON', button(`data-json='{"card":"${grouped(' ')}"}'`), '4111'],
  ['a card of 15 digits', button('', 'Amex 3782 822463 10005'), '8224'],
  ['a card in a class', button(`class="buy card-${card}"`), card],
  ['a card in an id', `<p id="p-${card}"><button id="it" type="button">Pay</button></p>`, card],
  ['a card in the name of an attribute', button(`data-${card}`), card],
  ['a card in an attribute for capture', button(`data-ph-capture-attribute-card="${grouped(' ')}"`), '4111'],
  ['a card in a copied text', `<p id="it">Card ${grouped('.')}</p>`, '4111', 'copy'],
  ['a social security number with spaces', button('', 'SSN 123 45 6789'), '6789'],
  ['a social security number with spaces in an attribute', button('title="SSN 123 45 6789"'), '6789'],
  ['a social security number split into spans', button('', '<span>123</span><span>45</span><span>6789</span>'), '6789'],

  // Events on the field itself
  ['the value of a changed field', `<input id="it" value="${mail}">`, mail, 'change'],
  ['a text area', `<textarea id="it">${mail}</textarea>`, mail],
  ['a password', `<input id="it" type="password" value="${mail}" title="${mail}">`, mail],
  ['a field elsewhere in the form', form(button('')), mail],
  [
    'attributes of a field',
    `<input id="it" value="${mail}" title="${mail}" placeholder="${mail}" data-last="${mail}">`,
    mail,
  ],
  ['the label of a field for screen readers', `<input id="it" value="${mail}" aria-label="Mail: ${mail}">`, mail],
  ['an editor', `<div id="it" contenteditable="true">${mail}</div>`, mail],
  ['a link in an editor', `<div contenteditable><a id="it" href="#${mail}">${mail}</a></div>`, mail],
  ['an option', `<select size="3"><option id="it" value="${mail}" selected>${name}</option></select>`, [mail, name]],
  ['a pasted text', `<textarea id="it">${mail}</textarea>`, mail, 'paste'],
  ['an element inside ph-sensitive', `<div class="ph-sensitive">${button('', mail)}</div>`, mail],
  ['a mirror around a text area', `<div data-value="${mail}"><textarea id="it">${mail}</textarea></div>`, mail],

  // Pages that repeat a field's value
  [
    'the attribute of a label',
    `<label id="it" for="mail" title="${mail}">Mail</label><input id="mail" value="${mail}">`,
    mail,
  ],
  ['the text of a label', `<label id="it">Mail: ${mail}<input value="${mail}"></label>`, mail],
  ['an attribute of an outer wrapper', `<div data-v="${mail}"><div><div>${form(button(''))}</div></div></div>`, mail],
  [
    'an attribute of the form',
    `<form data-v="${mail}" onsubmit="return false"><p><input value="${mail}"></p>${button('')}</form>`,
    mail,
  ],
  ['the title of a button in the form', form(button(`title="Send to ${mail}"`, `Send to ${mail}`)), mail],
  [
    'a button outside its form',
    `<form id="f"><input value="77"></form>${button('form="f" title="You are 77"')}`,
    'You are 77',
  ],
  [
    'a link outside a form',
    `<input value="${mail}"><p><a id="it" href="/to/${mail}" onclick="return false">${mail}</a></p>`,
    mail,
  ],
  [
    'an encoded address',
    form(`<a id="it" href="/to?m=${encodeURIComponent(mail)}" onclick="return false">x</a>`),
    encodeURIComponent(mail),
  ],
  [
    'the address of a clicked link',
    form(
      `<a id="it" href="https://${name.replace(' ', '-')}.example/" onclick="return false">x</a>`,
      `<input value="${name}">`,
    ),
    'Lovelace',
  ],
  [
    'other upper and lower case',
    form(button('title="ADA LOVELACE"', 'ada-lovelace'), `<input value="${name}">`),
    ['LOVELACE', 'lovelace'],
  ],
  [
    'a number with other separators',
    form(button('title="+1 (555) 010-9999"'), '<input value="15550109999">'),
    '010-9999',
  ],
  [
    'the beginning of a letter',
    form(button('title="Dear Ada, I write to…"'), '<textarea>Dear Ada, I write to you of love</textarea>'),
    'Dear',
  ],
  ['a line of a text', form(button('title="Second line"'), '<textarea>First line\nSecond line</textarea>'), 'Second'],
  ['a class', form(button('class="buy for-ada-lovelace"'), `<input value="${name}">`), 'lovelace'],
  ['the id of an outer element', `<div id="of-${mail}">${form(button(''))}</div>`, mail],
  ['an attribute for capture', form(button(`data-ph-capture-attribute-to="${mail}"`)), mail],
  [
    'a value split into spans',
    form(button('', '<span>Ada</span><span>Lovelace</span>'), `<input value="${name}">`),
    'Lovelace',
  ],
  [
    'the text of an editor',
    `<div contenteditable><p>Hello</p><p>${name}</p></div>${button(`title="${name}"`)}`,
    'Lovelace',
  ],
  ['a copied text', `<input value="${name}"><p id="it">To ${name}</p>`, 'Lovelace', 'copy'],
  [
    'the name of a file',
    `${form(button('title="x" data-file="my secret.pdf"'), '<input type="file">')}`,
    'my secret',
    'file',
  ],
  ['the attributes in a shadow tree', '<x-field id="host"></x-field>', mail, 'shadow'],
  ['a field in a shadow tree, repeated at its host', '<x-field id="host"></x-field>', mail, 'host'],

  // Short values
  ['a security code as an attribute', form(button('title="CVC 123"'), '<input name="cvc" value="123">'), '123'],
  ['a security code as a text', form(button('', 'CVC 123'), '<input name="cvc" value="123">'), '123'],
  [
    'a security code around its field',
    '<div data-cvc="123"><div><input id="it" name="cvc" value="123"></div></div>',
    '123',
  ],
  ['a security code elsewhere on the page', `<input name="cvc" value="123">${button('title="CVC 123"')}`, '123'],
  ['a security code in a class', form(button('class="cvc-123"'), '<input name="cvc" value="123">'), '123'],
  ['an age', form(button('title="You are 47"', 'I am 47'), '<input type="number" value="47">'), '47'],
  ['a name with two letters', form(button('title="Dear Li"'), '<input value="Li">'), 'Li"'],
  ['a name with one character', form(button('title="李先生"'), '<input value="李">'), '李'],
  ['a password of punctuation marks', form(button('title="!?#x"'), '<input type="password" value="!?#x">'), '!?#'],

  // Selected options
  [
    'a selected option, repeated',
    form(
      button('title="Large, please" data-size="l-3"'),
      '<select><option value="l-3" selected>Large</option></select>',
    ),
    ['Large', 'l-3'],
  ],
  [
    'a selected radio button, repeated around it',
    '<div data-chosen="diabetes"><p><input type="radio" id="it" value="diabetes" checked></p></div>',
    'diabetes',
  ],
  [
    'an element in an option',
    '<select id="s" size="2"><option value="v">Plain</option></select>',
    'Secret choice',
    'select',
  ],
  [
    'a button in a select',
    '<select id="s" size="2"><option value="v">Plain</option></select>',
    'Secret choice',
    'select button',
  ],
  ['a range', form(button('title="7300"'), '<input type="range" max="9000" value="7300">'), '7300'],
  ['a hidden field', form(button('title="of order-77"'), '<input type="hidden" value="order-77">'), 'order-77'],

  // Editable elements other than form fields
  [
    'an element with the role textbox',
    `<div id="it" role="textbox" style="cursor:pointer" title="${mail}">${mail}</div>`,
    mail,
  ],
  [
    'a link inside an element with the role textbox',
    `<div role="textbox"><p><a id="it" href="#${mail}">${mail}</a></p></div>`,
    mail,
  ],
  [
    'the text of an element with the role textbox, repeated',
    `<div role="textbox">${name}</div>${button(`title="${name}"`)}`,
    'Lovelace',
  ],
  ['an element with the role searchbox', `<button id="it" role="searchbox" title="${mail}">${mail}</button>`, mail],
  [
    'an element with the role listbox',
    `<ul role="listbox"><li role="option" style="cursor:pointer" id="it">${name}</li></ul>`,
    'Lovelace',
  ],
  [
    'an element with the role slider',
    '<span role="slider" id="it" style="cursor:pointer" aria-valuetext="4711 EUR">4711</span>',
    '4711',
  ],
  [
    'user-modify',
    `<a id="it" style="-webkit-user-modify:read-write" href="#${mail}" onclick="return false">${mail}</a>`,
    mail,
  ],
  [
    'a button inside user-modify',
    `<div style="-webkit-user-modify:read-write-plaintext-only"><button id="it" type="button" title="${mail}">${mail}</button></div>`,
    mail,
  ],
  ['an EditContext', `<a id="it" title="${mail}">${mail}</a>`, mail, 'edit context'],
  ['a link inside an EditContext', `<div><a id="it" href="#${mail}">${mail}</a></div>`, mail, 'edit context around'],
  ['an editable document', button(`title="${mail}"`, mail), mail, 'design mode'],
];

let lab: Lab;
let page: Page;

beforeAll(async () => {
  lab = await startLab({ body: '<main></main>' });
  lab.ingest.config.elementsChainAsString = false;
  const options = {
    autocapture: { capture_copied_text: true },
    rageclick: false,
    rate_limiting: { events_per_second: 1e5 },
  };
  ({ page } = await lab.visit({ options: { ...options, flushAt: 50 } }));
  await waitForSettings(page);
  await eventually(
    async () => (await page.evaluate(tryOut, ['<button id="it">Go</button>', 'click'] as const)).length > 0,
  );
});
afterAll(() => lab.stop());

test.each(rows)('never sends %s', async (_, html, notSent, act = 'click') => {
  const sent = await page.evaluate(tryOut, [html, act] as const);
  expect(sent).not.toEqual([]);
  const text = JSON.stringify(sent).toLowerCase();
  for (const secret of [notSent].flat()) expect(text).not.toContain(JSON.stringify(secret).slice(1, -1).toLowerCase());
});

const sentCases: [of: string, html: string, sent: string][] = [
  ['other long numbers', button('title="Order 1234567890"', 'Order 1234567890123456'), 'Order 1234567890123456'],
  ['an address with an id', '<a id="it" href="/posts/123456789" onclick="return false">Post</a>', '/posts/123456789'],
  ['prices', button('', 'Buy for $1,250,000.00'), '1,250,000.00'],
  ['days', button('title="2026-11-23 18:05:33"', 'Due 23.11.2026'), '2026-11-23 18:05:33'],
  ['a telephone number', button('', 'Call +49 30 123456-78'), '+49 30 123456-78'],
  [
    'the text of an option, outside the form',
    `<select><option value="en">English</option></select><p>${button('title="en, English"', 'English')}</p>`,
    'en, English',
  ],
  [
    'a small number that was typed',
    `<input type="number" value="1"><p>${button('class="col-1" title="1 of 3"', 'Take 1')}</p>`,
    'Take 1',
  ],
  [
    'the other classes of an element with such a class',
    form(button('class="buy large-ada"'), '<input value="large-ada">'),
    'button.buy:',
  ],
];
test.each(sentCases)('still sends %s', async (_, html, expected) => {
  const sent = await page.evaluate(tryOut, [html, 'click'] as const);
  expect(JSON.stringify(sent)).toContain(expected);
});

/** Runs in the page. Returns only captured properties that not every event has. */
async function tryOut([html, act]: readonly [string, string]): Promise<unknown[]> {
  const main = document.querySelector('main') as HTMLElement;
  main.innerHTML = html;
  const events: unknown[] = [];
  const stop = window.posthog.on('eventCaptured', ({ event, properties }) => {
    const { $elements, $elements_chain, $el_text, $external_click_url, $selected_content, ...rest } = properties;
    const own = Object.entries(rest).filter(
      ([name]) => !name.startsWith('$') && !['token', 'distinct_id'].includes(name),
    );
    events.push([event, $elements, $elements_chain, $el_text, $external_click_url, $selected_content, own]);
  });
  let target = main.querySelector('#it') as HTMLElement;
  if (act === 'file') {
    const files = new DataTransfer();
    files.items.add(new File(['x'], 'my secret.pdf'));
    (main.querySelector('[type=file]') as HTMLInputElement).files = files.files;
  }
  if (act === 'shadow' || act === 'host') {
    const host = main.querySelector('#host') as HTMLElement;
    host.attachShadow({ mode: 'open' }).innerHTML =
      '<p data-v="ada@example.com"><input value="ada@example.com"><button>x</button></p>';
    host.title = 'ada@example.com';
    host.style.cursor = 'pointer';
    target = act === 'host' ? host : (host.shadowRoot?.querySelector('button') as HTMLElement);
  }
  if (act.startsWith('select')) {
    // In browsers that allow elements inside options, the HTML parser produces the same DOM tree.
    const inner = document.createElement(act === 'select' ? 'span' : 'button');
    inner.append('Secret choice');
    inner.style.cursor = 'pointer';
    main.querySelector(act === 'select' ? 'option' : 'select')?.append(inner);
    target = inner;
  }
  if (act.startsWith('edit context')) {
    const edited = (act.endsWith('around') ? target.parentElement : target) as HTMLElement;
    const Context = (window as unknown as { EditContext: new (given: object) => unknown }).EditContext;
    const holder = edited.tagName === 'A' ? Object.assign(document.createElement('div'), { id: 'host' }) : edited;
    if (holder !== edited) {
      edited.replaceWith(holder);
      holder.append(edited);
    }
    Object.assign(holder, { editContext: new Context({ text: 'ada@example.com' }) });
  }
  if (act === 'design mode') document.designMode = 'on';
  if (act === 'copy') getSelection()?.selectAllChildren(target);
  const type = ['change', 'copy', 'paste'].includes(act) ? act : 'click';
  target.dispatchEvent(
    type === 'click'
      ? new MouseEvent(type, { bubbles: true, composed: true, cancelable: true })
      : new Event(type, { bubbles: true }),
  );
  document.designMode = 'off';
  await new Promise((resolve) => setTimeout(resolve));
  stop();
  main.replaceChildren();
  return events;
}
