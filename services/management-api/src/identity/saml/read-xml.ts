// Reads XML for SAML. Accepts only the subset of XML that all parsers interpret in the same way. Document types,
// entities, comments, processing instructions and CDATA sections are rejected before parsing, because parsers treat
// them differently.

import { DOMParser, type Document, type Element } from '@xmldom/xmldom';

export type XmlProblem = 'too_large' | 'not_xml' | 'forbidden_markup';

export class UnreadableXml extends Error {
  readonly problem: XmlProblem;

  constructor(problem: XmlProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

const maxBytes = 256 * 1024;
const maxDepth = 64;
const maxElements = 1000;
const maxAttributes = 64;
const namePattern = '[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?';
/** Matches one tag. Its attribute values must not contain `<`. */
const tagPattern = new RegExp(
  `<(/?)(${namePattern})((?:\\s+${namePattern}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>`,
  'y',
);
const attributePattern = new RegExp(`(${namePattern})\\s*=`, 'g');
const declaration =
  /^<\?xml\s+version=["']1\.0["'](?:\s+encoding=["'](?:utf-8|UTF-8|us-ascii|US-ASCII)["'])?(?:\s+standalone=["'](?:yes|no)["'])?\s*\?>/;
const entity = /&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});/g;
/** Matches characters that XML 1.0 does not allow, not even as character references. */
const forbiddenSign = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Decodes a SAML response from UTF-8. @throws UnreadableXml if it is too large or not valid UTF-8 */
export function decodeText(bytes: Uint8Array): string {
  if (bytes.length > maxBytes)
    throw new UnreadableXml('too_large', `The SAML response is larger than ${maxBytes / 1024} KiB.`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UnreadableXml('not_xml', 'The SAML response is not valid UTF-8.');
  }
}

/** Parses one document in linear time. @throws UnreadableXml */
export function readXml(text: string): { document: Document; root: Element } {
  checkMarkup(text);
  const complain = (message: string) => {
    throw new UnreadableXml('not_xml', `The SAML response is not well-formed XML: ${message.slice(0, 80)}`);
  };
  const errorHandler = { warning: complain, error: complain, fatalError: complain };
  const document = new DOMParser({ errorHandler }).parseFromString(text, 'text/xml');
  const root = document.documentElement;
  if (!root) throw new UnreadableXml('not_xml', 'The SAML response does not contain an element.');
  return { document, root };
}

function checkMarkup(text: string): void {
  if (forbiddenSign.test(text))
    throw new UnreadableXml('not_xml', 'The SAML response contains a character that is not allowed in XML.');
  const open: string[] = [];
  let at = declaration.exec(text)?.[0].length ?? 0;
  let elements = 0;
  let isOver = false;
  while (at < text.length) {
    const next = text.indexOf('<', at);
    const between = text.slice(at, next < 0 ? undefined : next);
    if (open.length === 0 && /[^ \t\r\n]/.test(between)) throw notXml('there is text outside the root element');
    checkReferences(between);
    if (next < 0) break;
    tagPattern.lastIndex = next;
    const tag = tagPattern.exec(text);
    if (tag === null)
      throw isForbidden(text, next) ? forbidden(text.slice(next, next + 12)) : notXml('a tag is malformed');
    const [whole, closes, name = '', attributes = '', isEmpty] = tag;
    at = next + whole.length;
    if (closes) {
      if (attributes !== '' || isEmpty || open.pop() !== name) throw notXml(`${name} is closed but was not opened`);
      isOver = open.length === 0;
      continue;
    }
    if (isOver) throw notXml('there is more than one root element');
    elements += 1;
    if (elements > maxElements)
      throw new UnreadableXml('too_large', `The SAML response has more than ${maxElements} elements.`);
    const names = [...attributes.matchAll(attributePattern)].map((match) => match[1]);
    if (names.length > maxAttributes)
      throw new UnreadableXml('too_large', 'An element in the SAML response has too many attributes.');
    if (new Set(names).size !== names.length) throw notXml('an element has the same attribute twice');
    checkReferences(attributes);
    if (!isEmpty) open.push(name);
    else isOver = open.length === 0;
    if (open.length > maxDepth)
      throw new UnreadableXml('too_large', `The SAML response is nested more than ${maxDepth} levels deep.`);
  }
  if (open.length > 0 || !isOver) throw notXml('it ends too early');
}

/** Returns true if a comment, CDATA section, document type or processing instruction starts at this position. */
function isForbidden(text: string, at: number): boolean {
  return text[at + 1] === '!' || text[at + 1] === '?';
}

function checkReferences(text: string): void {
  if (!text.includes('&')) return;
  if (text.replaceAll(entity, '').includes('&')) throw forbidden('&…;');
  for (const [reference] of text.matchAll(/&#(?:\d{1,7}|x[0-9A-Fa-f]{1,6});/g)) {
    const code = reference[2] === 'x' ? Number.parseInt(reference.slice(3), 16) : Number(reference.slice(2, -1));
    if (code > 0x10_ff_ff || forbiddenSign.test(String.fromCodePoint(code)))
      throw notXml(`${reference} is not a valid character`);
  }
}

function notXml(why: string): UnreadableXml {
  return new UnreadableXml('not_xml', `The SAML response is not well-formed XML: ${why}.`);
}

function forbidden(what: string): UnreadableXml {
  const shown = what.replaceAll(/[^\w&;<!?[\]…-]/g, ' ').trim();
  return new UnreadableXml('forbidden_markup', `The SAML response contains markup that is not accepted (${shown}).`);
}
