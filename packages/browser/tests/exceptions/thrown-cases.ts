/** Expressions for the values that an application may throw. */
export const thrownCases: [of: string, thrown: string][] = [
  ['an error', `new Error('broken')`],
  ['an error of a subclass', `new TypeError('not that')`],
  [
    'an error with a cause',
    `new Error('outer', { cause: new RangeError('inner', { cause: new Error('innermost') }) })`,
  ],
  ['an error with a cause that is a text', `new Error('outer', { cause: 'a reason' })`],
  ['an error with a cause that is an object', `new Error('outer', { cause: { code: 7, detail: 'x' } })`],
  [
    'several errors',
    `new AggregateError([new Error('one'), new TypeError('two', { cause: new Error('why') }), 'three'], 'all')`,
  ],
  ['an error with another name', `Object.assign(new Error('m'), { name: 'PaymentError' })`],
  ['an error of a class of the application', `new (class BrokenCart extends Error {})('m')`],
  ['an error of such a class with a name', `new (class BrokenCart extends Error { name = 'Cart' })('m')`],
  ['an error without a message', `new Error()`],
  ['an error without a name', `Object.assign(new Error('m'), { name: '' })`],
  ['an error with several lines', `new Error('one\\ntwo\\n  at three (https://x.example/a.js:1:2)')`],
  ['an error with an address in its message', `new Error('a@b.example is taken')`],
  ['an error thrown by the DOM', `(() => { try { document.querySelector('[[') } catch (error) { return error } })()`],
  ['a DOMException', `new DOMException('gone', 'AbortError')`],
  ['a DOMException without a message', `new DOMException()`],
  ['an error event', `new ErrorEvent('error', { error: new Error('within'), message: 'Uncaught Error: within' })`],
  [
    'an error event without the error',
    `new ErrorEvent('error', { message: 'Uncaught TypeError: x is not a function', filename: 'https://x.example/app.js', lineno: 3, colno: 9 })`,
  ],
  ['an error event from another origin', `new ErrorEvent('error', { message: 'Script error.' })`],
  [
    'a rejection event',
    `new PromiseRejectionEvent('unhandledrejection', { promise: Promise.resolve(), reason: new Error('why') })`,
  ],
  [
    'a rejection event with a text',
    `new PromiseRejectionEvent('unhandledrejection', { promise: Promise.resolve(), reason: 'why' })`,
  ],
  [
    'a rejection event without a reason',
    `new PromiseRejectionEvent('unhandledrejection', { promise: Promise.resolve() })`,
  ],
  [
    'a rejection event with an object',
    `new PromiseRejectionEvent('unhandledrejection', { promise: Promise.resolve(), reason: { status: 500 } })`,
  ],
  ['an event', `new MouseEvent('click')`],
  ['a text', `'just words'`],
  ['an empty text', `''`],
  ["a text in the form of a browser's message", `'Uncaught RangeError: too far'`],
  ['a text that looks like an error', `'TypeError: no'`],
  ['a text of several lines', `'one\\ntwo'`],
  ['a number', `42`],
  ['nothing', `undefined`],
  ['null', `null`],
  ['a boolean', `true`],
  ['a symbol', `Symbol('s')`],
  ['a BigInt', `10n`],
  ['a function', `function handler() {}`],
  ['an object', `({ b: 1, a: 2 })`],
  ['an object with a message', `({ message: 'sorry' })`],
  ['an object with a name', `({ name: 'Odd', message: 'sorry' })`],
  ['an object with only a name', `({ name: 'Odd' })`],
  ['an object with many keys', `Object.fromEntries(Array.from({ length: 30 }, (_, at) => ['key' + at, at]))`],
  ['an object with an error in it', `({ status: 1, problem: new Error('within') })`],
  ['an instance of a class', `new (class Odd { x = 1 })()`],
  ['an object without a prototype', `Object.create(null)`],
  ['an empty object', `({})`],
  ['a list', `[1, 2]`],
  ['an object with a stack', `({ message: 'm', stack: 'Error: m\\n    at f (https://x.example/a.js:1:2)' })`],
];

const at = 'https://shop.example/assets/app.js';
/** Stacks in the formats of different browsers. */
export const stackCases: [of: string, stack: string][] = [
  [
    'Chrome',
    `TypeError: x is not a function\n    at inner (${at}:1:2345)\n    at Cart.add [as onClick] (${at}:2:3)\n    at new Cart (${at}:3:4)\n    at async load (${at}:4:5)\n    at async ${at}:5:6\n    at ${at}:6:7\n    at Array.map (<anonymous>)\n    at <anonymous>:1:1\n    at Object.<anonymous> (${at}:8:9)`,
  ],
  [
    'Chrome with eval',
    `Error: e\n    at eval (eval at run (${at}:21:17), <anonymous>:1:1)\n    at run (${at}:21:17)\n    at Function.call (native)`,
  ],
  [
    'Chrome with other schemes',
    `Error: e\n    at a (chrome-extension://abcdef/content.js:1:2)\n    at b (blob:https://shop.example/1234:3:4)\n    at c (webpack-internal:///./src/x.js:5:6)\n    at d (file:///C:/x/y.js:7:8)\n    at e (webpack:///./src/app.tsx?:10:11)\n    at f (node:internal/x:1:1)`,
  ],
  [
    'Chrome with parentheses in paths',
    `Error: e\n    at page (https://shop.example/_next/static/app/(shop)/[id]/page.js:1:2)`,
  ],
  [
    'Firefox',
    `inner@${at}:1:2345\nCart.prototype.add@${at}:2:3\n@${at}:3:4\nasync*load@${at}:4:5\nsetTimeout handler*start@${at}:5:6\n`,
  ],
  ['Firefox with eval', `f@${at} line 21 > eval:1:1\nrun@${at}:21:17\n`],
  ['Firefox in an extension', `content@moz-extension://1234/content.js:1:2\n`],
  [
    'Safari',
    `inner@${at}:1:2345\nadd@${at}:2:3\n${at}:3:4\nmap@[native code]\nglobal code@${at}:5:6\nmodule code@${at}:7:8`,
  ],
  ['Safari in an extension', `f@safari-web-extension://1234/content.js:1:2\n`],
  [
    'React in development',
    `\n    at Broken (${at}:10:11)\n    at div\n    at Suspense\n    at Layout (${at}:20:21)\n    at main`,
  ],
  ['React in Firefox', `Broken@${at}:10:11\ndiv\nLayout@${at}:20:21\n`],
  [
    '80 frames',
    `Error: deep\n${Array.from({ length: 80 }, (_, line) => `    at f${line} (${at}:${line + 1}:1)`).join('\n')}`,
  ],
  ['a very long line', `Error: long\n    at f (https://x.example/${'x'.repeat(2000)}.js:1:2)\n    at g (${at}:1:2)`],
  ['nonsense', 'what is this\n\n(((\n'],
];
