import type { ChainCase } from './chain-case.ts';

const shadow = (mode: 'open' | 'closed', within: string) =>
  `const root = at('x-host').attachShadow({ mode: '${mode}' }); root.innerHTML = ${JSON.stringify(within)};`;

/**
 * Cases for the position of the clicked element: in a shadow tree, in a slot, deeply nested, among many siblings, or
 * already removed.
 */
export const treeCases: ChainCase[] = [
  {
    of: 'an open shadow tree',
    html: '<div class="around"><x-host id="h"></x-host></div>',
    act: `${shadow('open', '<p><button class="in">Shadow</button></p>')} root.querySelector('button').click()`,
  },
  {
    of: 'text in an open shadow tree',
    isNothing: true,
    html: '<x-host></x-host>',
    act: `${shadow('open', '<p>x</p>')} root.querySelector('p').click()`,
  },
  {
    of: 'an open shadow tree in a button',
    html: '<button><x-host></x-host></button>',
    act: `${shadow('open', '<i>x</i>')} root.querySelector('i').click()`,
  },
  {
    of: 'an open shadow tree with a hand cursor',
    html: '<x-host style="cursor:pointer"></x-host>',
    act: `${shadow('open', '<i>x</i>')} root.querySelector('i').click()`,
  },
  {
    of: 'a closed shadow tree',
    html: '<x-host style="cursor:pointer">light</x-host>',
    act: `${shadow('closed', '<button>secret</button>')} root.querySelector('button').click()`,
  },
  {
    of: 'a shadow tree in another one',
    html: '<x-host></x-host>',
    act: `${shadow('open', '<y-host class="y"></y-host>')} const inner = root.querySelector('y-host').attachShadow({ mode: 'open' }); inner.innerHTML = '<a href="#x">deep</a>'; inner.querySelector('a').click()`,
  },
  {
    of: 'a slot',
    html: '<x-host><button slot="s">Slotted</button></x-host>',
    act: `${shadow('open', '<div class="wrap"><slot name="s"></slot></div>')} at('button').click()`,
  },
  {
    of: 'a shadow host',
    html: '<x-host style="cursor:pointer">light</x-host>',
    act: `${shadow('open', '<i>x</i>')} at('x-host').click()`,
  },
  {
    of: 'a shadow host with ph-no-capture',
    isNothing: true,
    html: '<x-host class="ph-no-capture"></x-host>',
    act: `${shadow('open', '<button>x</button>')} root.querySelector('button').click()`,
  },
  {
    of: 'a shadow host with ph-sensitive',
    html: '<x-host class="ph-sensitive"></x-host>',
    act: `${shadow('open', '<button>secret</button>')} root.querySelector('button').click()`,
    otherwise: {
      because: 'the content of a shadow tree is inside its host',
      events: (events) => expect(JSON.stringify(events)).not.toContain('secret'),
    },
  },
  {
    of: 'a slot inside ph-no-capture',
    html: '<x-host><button>secret</button></x-host>',
    act: `${shadow('open', '<div class="ph-no-capture"><slot></slot></div>')} at('button').click()`,
    otherwise: { because: 'the content of a slot is shown inside the elements around the slot', events: [] },
  },
  {
    of: 'a slot inside ph-sensitive',
    html: '<x-host><button>secret</button></x-host>',
    act: `${shadow('open', '<div class="ph-sensitive"><slot></slot></div>')} at('button').click()`,
    otherwise: {
      because: 'the content of a slot is shown inside the elements around the slot',
      events: (events) => expect(JSON.stringify(events)).not.toContain('secret'),
    },
  },
  {
    of: 'a document with ph-no-capture',
    html: '<button>x</button>',
    act: `document.documentElement.className = 'ph-no-capture'; at('button').click(); document.documentElement.className = ''`,
    otherwise: { because: 'every element is inside the document', events: [] },
  },
  {
    of: 'a paragraph and a link in an editor',
    html: '<form><div contenteditable="true" class="ed"><p title="typed title">typed <a href="https://typed.example/">typed</a></p></div></form>',
    act: `at('p').click(); at('a').click()`,
    otherwise: {
      because: 'paragraphs and links in an editor are typed text too',
      events: (events) => {
        expect(events).toHaveLength(2);
        expect(JSON.stringify(events)).not.toContain('typed');
      },
    },
  },
  {
    of: 'an editor for plain text',
    html: '<form><div contenteditable="plaintext-only">typed</div><div contenteditable>typed</div></form>',
    act: `for (const editor of at('form').children) editor.click()`,
    otherwise: {
      because: 'three values of contenteditable make an element editable',
      events: (events) => {
        expect(events).toHaveLength(2);
        expect(JSON.stringify(events)).not.toContain('typed');
      },
    },
  },
  {
    of: 'a deep tree',
    html: '<button>x</button>',
    act: `let inner = at('button'); for (let i = 0; i < 900; i++) inner = inner.appendChild(document.createElement('i')); inner.click()`,
  },
  {
    of: 'a tree deeper than the limit',
    html: '<button>x</button>',
    act: `let inner = at('button'); for (let i = 0; i < 1200; i++) inner = inner.appendChild(document.createElement('i')); inner.className = 'end'; inner.click()`,
    otherwise: {
      because: 'beyond the limit nothing is captured, where posthog-js ignores the outer elements',
      events: (events) => expect(events.length).toBeLessThanOrEqual(1),
    },
  },
  {
    of: 'a long list',
    html: '<ul></ul>',
    act: `for (let i = 0; i < 3000; i++) at('ul').append(document.createElement(i % 3 ? 'li' : 'b')); const a = document.createElement('a'); a.textContent = 'end'; at('ul').lastChild.append(a); a.click()`,
  },
  {
    of: 'a list that was removed',
    html: '<ul><li><button id="gone">Gone</button></li></ul>',
    act: `addEventListener('click', () => at('ul').remove(), { capture: true, once: true }); at('button').click()`,
  },
  {
    of: 'a removed button',
    html: '<div><button>Gone</button></div>',
    act: `addEventListener('click', () => at('button').remove(), { capture: true, once: true }); at('button').click()`,
  },
  {
    of: 'a removed button that was inside ph-no-capture',
    html: '<div class="ph-no-capture"><button>Gone</button></div>',
    act: `addEventListener('click', () => at('button').remove(), { capture: true, once: true }); at('button').click()`,
    otherwise: { because: 'the button was inside it when it was clicked', events: [] },
  },
];
