import { type ChainCase, click, repeatText } from './chain-case.ts';

export const contentCases: ChainCase[] = [
  // Privacy markers
  {
    of: 'a button with ph-no-capture',
    isNothing: true,
    html: '<button class="ph-no-capture">x</button>',
    act: click('button'),
  },
  {
    of: 'a button inside ph-no-capture',
    isNothing: true,
    html: '<div class="a ph-no-capture b"><button>x</button></div>',
    act: click('button'),
  },
  {
    of: 'ph-no-capture inside a button',
    html: '<button>x <span class="ph-no-capture">secret</span></button>',
    act: click('button'),
  },
  {
    of: 'a button with ph-no-autocapture',
    isNothing: true,
    html: '<button class="ph-no-autocapture">x</button>',
    act: click('button'),
  },
  {
    of: 'a button inside data-ph-no-autocapture',
    isNothing: true,
    html: '<div data-ph-no-autocapture><button>x</button></div>',
    act: click('button'),
  },
  { of: 'sensitive', html: '<button class="ph-sensitive" id="s" title="t">x</button>', act: click('button') },
  {
    of: 'a link inside ph-sensitive',
    html: '<div class="ph-sensitive"><a href="https://elsewhere.example/" onclick="return false">x</a></div>',
    act: click('a'),
  },
  {
    of: 'ph-sensitive inside a button',
    html: '<button>x <span class="ph-sensitive">secret</span> y</button>',
    act: click('button'),
  },
  {
    of: 'a class that only begins with ph-no-capture',
    html: '<button class="ph-no-capture-not">x</button>',
    act: click('button'),
  },

  // Text content
  { of: 'white space', html: '<button>  Buy\n\n   it \t now\u00a0 please  </button>', act: click('button') },
  { of: 'several texts', html: '<a href="#x">One <b>two</b> three <i>four</i> five</a>', act: click('a') },
  {
    of: 'spans in spans',
    html: '<a href="#x">One <span>two <span>three <b>x</b> <span>four</span></span></span> five<span></span></a>',
    act: click('a'),
  },
  { of: 'a long text', html: `<button>${repeatText(300, 'ab ')}</button>`, act: click('button') },
  {
    of: 'two long texts',
    html: `<button>${repeatText(300)}<br>${repeatText(300, 'y')}</button>`,
    act: click('button'),
  },
  {
    of: 'many long texts',
    html: `<p style="cursor:pointer">${repeatText(6, `${repeatText(300)}<br>`)}</p>`,
    act: click('p'),
    otherwise: {
      because: 'the text of the target is also cut after 1024 characters',
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
  ].map((number) => ({
    of: `the number ${number}`,
    html: `<button title="${number}">${number}</button><p style="cursor:pointer">n ${number} m</p>`,
    act: `${click('button')}; ${click('p')}`,
  })),
  {
    of: 'a social security number among the words of an attribute',
    html: '<button title="id 123-45-6789 x">id 123-45-6789 x</button>',
    act: click('button'),
    otherwise: {
      because: 'attributes are searched for sensitive numbers as texts are',
      events: (events) => expect(JSON.stringify(events)).not.toContain('6789'),
    },
  },
  {
    of: 'a card number directly after a letter',
    html: '<button title="a4111111111111111">a4111111111111111</button>',
    act: click('button'),
    otherwise: {
      because: 'its check digit shows that it is a card number',
      events: (events) => expect(JSON.stringify(events)).not.toContain('4111'),
    },
  },
  {
    of: 'a card number in groups, without other text',
    html: '<button title="4111 1111 1111 1111">4111 1111 1111 1111</button>',
    act: click('button'),
  },
  {
    of: 'a card number in groups, with other text',
    html: '<p style="cursor:pointer">Card 4111 1111 1111 1111 ok</p>',
    act: click('p'),
    otherwise: {
      because: 'spaces do not change the number',
      events: (events) => expect(events[0]?.properties.$el_text).toBe('Card ok'),
    },
  },
  {
    of: 'a card number of the Mastercard 2 series',
    html: '<p style="cursor:pointer">2223003122003222</p>',
    act: click('p'),
    otherwise: {
      because: 'Mastercard numbers can also begin with 2 since 2017',
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
  { of: 'a long attribute', html: `<button title="${repeatText(1500)}">x</button>`, act: click('button') },
  {
    of: 'attributes without a value',
    html: '<button disabled="" hidden autofocus style="color: red">x</button>',
    act: `at('button').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
  {
    of: 'attributes in random order',
    html: '<button z="1" b="2" A="3" data-2="x" data-10="y" text="t" nth-child="9" href="h">x</button>',
    act: click('button'),
  },
  {
    of: 'places',
    html: '<b></b>text<i></i><!----><b></b><button>1</button><i></i><button>2</button><button id="it">3</button><b></b>',
    act: click('#it'),
  },
  {
    of: 'positions among SVG elements',
    html: '<svg><g/><rect/><g/><a id="it" style="cursor:pointer"/><A/></svg>',
    act: `at('#it').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
  },
];
