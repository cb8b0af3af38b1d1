import type { ChainCase } from './chain-case.ts';

const shadow = (mode: 'open' | 'closed', within: string) =>
  `const root = at('x-host').attachShadow({ mode: '${mode}' }); root.innerHTML = ${JSON.stringify(within)};`;

/** Where elements are: in shadow trees, in slots, very deep, among very many, and not in the page any more. */
export const treeCases: ChainCase[] = [
  {
    of: 'an open shadow tree',
    html: '<div class="around"><x-host id="h"></x-host></div>',
    act: `${shadow('open', '<p><button class="in">Shadow</button></p>')} root.querySelector('button').click()`,
  },
  {
    of: 'an open shadow tree, without a meaning',
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
    of: 'an open shadow tree with the hand',
    html: '<x-host style="cursor:pointer"></x-host>',
    act: `${shadow('open', '<i>x</i>')} root.querySelector('i').click()`,
  },
  {
    of: 'a closed shadow tree',
    html: '<x-host style="cursor:pointer">light</x-host>',
    act: `${shadow('closed', '<button>secret</button>')} root.querySelector('button').click()`,
  },
  {
    of: 'a shadow tree in another',
    html: '<x-host></x-host>',
    act: `${shadow('open', '<y-host class="y"></y-host>')} const inner = root.querySelector('y-host').attachShadow({ mode: 'open' }); inner.innerHTML = '<a href="#x">deep</a>'; inner.querySelector('a').click()`,
  },
  {
    of: 'a slot',
    html: '<x-host><button slot="s">Slotted</button></x-host>',
    act: `${shadow('open', '<div class="wrap"><slot name="s"></slot></div>')} at('button').click()`,
  },
  {
    of: 'a shadow host itself',
    html: '<x-host style="cursor:pointer">light</x-host>',
    act: `${shadow('open', '<i>x</i>')} at('x-host').click()`,
  },
  {
    of: 'a host not to be captured',
    isNothing: true,
    html: '<x-host class="ph-no-capture"></x-host>',
    act: `${shadow('open', '<button>x</button>')} root.querySelector('button').click()`,
  },
  {
    of: 'a sensitive host',
    html: '<x-host class="ph-sensitive"></x-host>',
    act: `${shadow('open', '<button>secret</button>')} root.querySelector('button').click()`,
    otherwise: {
      because: 'what is in a shadow tree is within its host',
      events: (events) => expect(JSON.stringify(events)).not.toContain('secret'),
    },
  },
  {
    of: 'a slot not to be captured',
    html: '<x-host><button>secret</button></x-host>',
    act: `${shadow('open', '<div class="ph-no-capture"><slot></slot></div>')} at('button').click()`,
    otherwise: { because: 'what is in a slot is shown within what is around the slot', events: [] },
  },
  {
    of: 'a sensitive slot',
    html: '<x-host><button>secret</button></x-host>',
    act: `${shadow('open', '<div class="ph-sensitive"><slot></slot></div>')} at('button').click()`,
    otherwise: { because: 'the same', events: (events) => expect(JSON.stringify(events)).not.toContain('secret') },
  },
  {
    of: 'a document not to be captured',
    html: '<button>x</button>',
    act: `document.documentElement.className = 'ph-no-capture'; at('button').click(); document.documentElement.className = ''`,
    otherwise: { because: 'the document is around all that is in it', events: [] },
  },
  {
    of: 'an editor, as a part of what is typed',
    html: '<form><div contenteditable="true" class="ed"><p title="typed title">typed <a href="https://typed.example/">typed</a></p></div></form>',
    act: `at('p').click(); at('a').click()`,
    otherwise: {
      because: 'paragraphs and links of an editor are typed as well',
      events: (events) => {
        expect(events).toHaveLength(2);
        expect(JSON.stringify(events)).not.toContain('typed');
      },
    },
  },
  {
    of: 'an editor of plain text',
    html: '<form><div contenteditable="plaintext-only">typed</div><div contenteditable>typed</div></form>',
    act: `for (const editor of at('form').children) editor.click()`,
    otherwise: {
      because: 'there are three ways to say that something can be edited',
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
    of: 'a tree that is too deep',
    html: '<button>x</button>',
    act: `let inner = at('button'); for (let i = 0; i < 1200; i++) inner = inner.appendChild(document.createElement('i')); inner.className = 'end'; inner.click()`,
    otherwise: {
      because: 'nothing is captured where PostHog gives up on what is further out',
      events: (events) => expect(events.length).toBeLessThanOrEqual(1),
    },
  },
  {
    of: 'a long list',
    html: '<ul></ul>',
    act: `for (let i = 0; i < 3000; i++) at('ul').append(document.createElement(i % 3 ? 'li' : 'b')); const a = document.createElement('a'); a.textContent = 'end'; at('ul').lastChild.append(a); a.click()`,
  },
  {
    of: 'a list that is gone',
    html: '<ul><li><button id="gone">Gone</button></li></ul>',
    act: `addEventListener('click', () => at('ul').remove(), { capture: true, once: true }); at('button').click()`,
  },
  {
    of: 'a button that is gone',
    html: '<div><button>Gone</button></div>',
    act: `addEventListener('click', () => at('button').remove(), { capture: true, once: true }); at('button').click()`,
  },
  {
    of: 'a button that is gone from where nothing is captured',
    html: '<div class="ph-no-capture"><button>Gone</button></div>',
    act: `addEventListener('click', () => at('button').remove(), { capture: true, once: true }); at('button').click()`,
    otherwise: { because: 'it was there when it was clicked', events: [] },
  },
];
