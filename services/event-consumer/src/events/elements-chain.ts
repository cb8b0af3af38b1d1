import { cutToCodePoints, isObject, type JsonObject } from '@millrace/contracts';

const maxTextLength = 400;
const maxHrefLength = 2048;

/**
 * The clicked element and its parents as one text, by which readers search: `$elements_chain` as sent, else built from
 * `$elements`, else empty (docs/ingestion-rules.md#the-event-row). Elements are joined by `;`, each
 * `tag.class.class:name="value"name="value"` with classes and names sorted.
 */
export function elementsChain(properties: JsonObject): string {
  const chain = properties.$elements_chain;
  if (typeof chain === 'string' && chain !== '') return chain;
  const elements = properties.$elements;
  return Array.isArray(elements) ? elements.filter(isObject).map(elementText).join(';') : '';
}

function elementText(element: JsonObject): string {
  const classes = classNames(element.attr__class).map((name) => `.${name}`);
  const attributes = [...elementAttributes(element)].sort(byName).map(([name, value]) => `${name}="${escaped(value)}"`);
  return `${asText(element.tag_name)}${classes.join('')}:${attributes.join('')}`;
}

/** A map, because a client's attribute may be called like something every object inherits. */
function elementAttributes(element: JsonObject): Map<string, string> {
  const attributes = new Map([
    ['nth-child', asText(element.nth_child ?? 0)],
    ['nth-of-type', asText(element.nth_of_type ?? 0)],
  ]);
  for (const [name, value] of Object.entries(element)) {
    if (name.startsWith('attr__')) attributes.set(name, asText(value));
  }
  setIfPresent(attributes, 'text', cutToCodePoints(asText(element.$el_text), maxTextLength));
  setIfPresent(attributes, 'attr_id', asText(element.attr__id));
  setIfPresent(attributes, 'href', cutToCodePoints(asText(element.attr__href), maxHrefLength));
  setIfPresent(attributes, 'attr__href', cutToCodePoints(asText(element.attr__href), maxHrefLength));
  return attributes;
}

function setIfPresent(attributes: Map<string, string>, name: string, value: string): void {
  if (value !== '') attributes.set(name, value);
}

function classNames(value: unknown): string[] {
  const names = Array.isArray(value) ? value.map(asText) : asText(value).split(/\s+/);
  return names
    .map((name) => name.replaceAll('"', ''))
    .filter((name) => name !== '')
    .sort();
}

/** Numbers and booleans as text; an object has no place in an attribute and stands as JSON. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function escaped(value: string): string {
  return value.replaceAll('"', '\\"');
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
