import { gzipSync } from 'node:zlib';

/** A body that is cheap to send and expensive to process. */
export interface HostileBody {
  what: string;
  body: Buffer;
  headers: Record<string, string>;
}

/** Returns pairs of a title and an expensive string of about `bytes` bytes. The strings are JSON or begin like JSON. */
function hostileTexts(bytes: number): [string, string][] {
  const fill = (piece: string) => piece.repeat(Math.floor(bytes / piece.length));
  const numbered = (write: (index: number) => string) => {
    const pieces: string[] = [];
    for (let length = 0; length < bytes - 20; ) length += pieces[pieces.push(write(pieces.length)) - 1]?.length ?? 0;
    return pieces.join('');
  };
  const levels = (open: string, close: string) => {
    const count = Math.floor(bytes / (open.length + close.length + 1));
    return `${open.repeat(count)}1${close.repeat(count)}`;
  };
  return [
    ['wide: numbers', `[${fill('1,')}1]`],
    ['wide: lists', `[${fill('[],')}1]`],
    ['wide: objects', `[${fill('{},')}1]`],
    ['wide: texts', `[${fill('"",')}1]`],
    ['deep lists', levels('[', ']')],
    ['deep objects', levels('{"a":', '}')],
    ['deep, without an end', fill('[')],
    ['deep and wide', `${'{"a":'.repeat(60)}[${fill('[1],')}1]${'}'.repeat(60)}`],
    ['wide and deep', `[${fill(`${'['.repeat(60)}${']'.repeat(60)},`)}1]`],
    ['many names', `{${numbered((index) => `"${index.toString(36)}":1,`)}"":1}`],
    ['many objects, each with a name of its own', `[${numbered((index) => `{"${index.toString(36)}":1},`)}1]`],
    ['one name again and again', `{${fill('"name":1,')}"name":1}`],
    ['prototypes', `[${fill('{"__proto__":{"a":1},"constructor":{}},')}1]`],
    ['one long number', fill('1')],
    ['long numbers', `[${fill(`${'9'.repeat(400)}.${'9'.repeat(400)}e-300,`)}1]`],
    ['one long text', `["${fill('x')}"]`],
    ['escapes', `["${fill('\\\\\\"\\u00e9')}"]`],
    ['characters without an escape', `["${fill('\\ud83d')}"]`],
    ['null characters', `["${fill('\\u0000')}"]`],
    ['a text that does not end', `["${fill('\\"')}`],
    ['white space', `[${fill(' ')}1]`],
    ['in a field', `{"name":[${fill('{"a":[]},')}1]}`],
  ];
}

/**
 * Returns the most expensive bodies of a given size: plain, compressed and as forms.
 * @param bytes the size after decompression
 * @param wrap a function that inserts each string into a larger string, for example into a field
 */
export function createHostileBodies(bytes: number, wrap: (text: string) => string = (text) => text): HostileBody[] {
  const json = { 'content-type': 'application/json' };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return [
    ...hostileTexts(bytes).flatMap(([what, text]) => {
      const plain = Buffer.from(wrap(text));
      return [
        { what, body: plain, headers: json },
        { what: `${what}, gzip`, body: gzipSync(plain), headers: { ...json, 'content-encoding': 'gzip' } },
      ];
    }),
    { what: 'a form of many fields', body: Buffer.from('a=1&'.repeat(bytes / 4)), headers: form },
    { what: 'a form of percent signs', body: Buffer.from(`a=${'%41'.repeat(bytes / 3 - 1)}`), headers: form },
  ];
}
