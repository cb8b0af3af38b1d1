import { isUtf8 } from 'node:buffer';
import { type CapturedEvent, isDeeperThan, isObject, type JsonObject } from '@millrace/contracts';
import { maxNesting, mayNestDeeperThan } from '../values/clean-json.ts';
import { checkRecord, parseOrNull } from './parse-record.ts';

/**
 * An event whose properties are still bytes. They are most of the event, and are not needed before the rules see it.
 * Until then the batch waits for the database several times, and the garbage collector would copy the parsed objects
 * meanwhile.
 */
export interface UnparsedEvent extends Omit<CapturedEvent, 'properties'> {
  unparsed: UnparsedProperties;
}

/** Bytes `start` to `end` of a record, which are JSON without escapes of characters (`\u`), in UTF-8. */
export interface UnparsedProperties {
  value: Buffer;
  start: number;
  end: number;
  /** Whether a member at any depth has such a name, or may have it. */
  mayNameGroups: boolean;
  mayNameUpdates: boolean;
}

/** What should be the properties of an event, as the gateway writes them, cannot be parsed as such. */
export class UnreadableProperties extends Error {
  override readonly name = 'UnreadableProperties';
}

/** It cannot occur inside a string, where its quotes would be escaped. */
const beforeProperties = ',"properties":';
const noProperties: JsonObject = Object.freeze({});

/**
 * Parses the record of an event except for its properties, which the gateway writes last. Null for any other record,
 * and for one that may have to be cleaned: `parseRecord` parses these as a whole.
 */
export function parseHead(value: Buffer): UnparsedEvent | null {
  // One character for each byte: positions in it are positions in the record, and all that is searched for is ASCII.
  const bytes = value.toString('latin1');
  const at = bytes.indexOf(beforeProperties);
  if (at === -1 || !bytes.endsWith('}') || bytes.includes('\\u') || !isUtf8(value)) return null;
  const text = `${value.toString('utf8', 0, at)}}`;
  const record = parseOrNull(text);
  if (!isObject(record) || mayNestDeeperThan(text, maxNesting)) return null;
  record.properties = noProperties;
  const checked = checkRecord(record);
  if (checked.kind !== 'event') return null;
  const head: Omit<CapturedEvent, 'properties'> = checked;
  const start = at + beforeProperties.length;
  const unparsed: UnparsedProperties = {
    value,
    start,
    end: value.length - 1,
    // Searched for without quotes: a record has so many of them that searching for one more takes three times as long.
    mayNameGroups: bytes.includes('$groups', start),
    mayNameUpdates: bytes.includes('$set', start) || bytes.includes('$unset', start),
  };
  return Object.assign(head, { unparsed });
}

/**
 * The properties of an event as an object of its own, which the caller may change, and their text where it is known.
 * @throws UnreadableProperties when they are no object, or one nested too deep.
 */
export function parseProperties(event: CapturedEvent | UnparsedEvent): { properties: JsonObject; text: string | null } {
  if (!isUnparsed(event)) return { properties: { ...event.properties }, text: null };
  const { value, start, end } = event.unparsed;
  const text = value.toString('utf8', start, end);
  const properties = parseOrNull(text);
  if (!isObject(properties) || isTooDeep(properties, text)) throw new UnreadableProperties();
  return { properties, text };
}

/** The event with its properties. @throws UnreadableProperties as `parseProperties` does. */
export function parseWhole(event: CapturedEvent | UnparsedEvent): CapturedEvent {
  const { properties } = parseProperties(event);
  if (!isUnparsed(event)) return { ...event, properties };
  const { unparsed: _read, ...head } = event;
  return { ...head, properties };
}

export function isUnparsed(event: CapturedEvent | UnparsedEvent): event is UnparsedEvent {
  return 'unparsed' in event;
}

/** The record around the properties is one more level. */
function isTooDeep(properties: JsonObject, text: string): boolean {
  return mayNestDeeperThan(text, maxNesting - 1) && isDeeperThan(properties, maxNesting - 1);
}
