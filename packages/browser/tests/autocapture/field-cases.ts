import { type ChainCase, change, click } from './chain-case.ts';

/** Cases for form fields: autocapture captures a change without the typed text. */
export const fieldCases: ChainCase[] = [
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
    of: 'a select',
    html: '<select name="size" data-x="1"><option>Small</option><option selected>Large</option></select>',
    act: `${click('select')}; ${change('select')}`,
  },
  {
    of: 'an option of a list',
    html: '<select size="3"><option value="a" class="first">One</option></select>',
    act: click('option'),
    otherwise: {
      because: 'the text of an option is the value of a field',
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
    of: 'a textarea',
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
    of: 'a password button with ph-include',
    html: '<button name="password" class="ph-include">Show</button>',
    act: click('button'),
  },
  {
    of: 'a button with ph-sensitive and ph-include',
    html: '<button class="ph-sensitive ph-include">Show</button>',
    act: click('button'),
  },
];
