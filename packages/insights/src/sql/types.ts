// Types of SQL values, the rules for combining them, and their names in responses.

export type Kind =
  | 'int'
  | 'float'
  | 'text'
  /** Result of a comparison, which is 1 or 0. */
  | 'flag'
  | 'bool'
  | 'date'
  | 'time'
  | 'uuid'
  | 'array'
  | 'tuple'
  | 'json'
  | 'interval'
  | 'nothing';

export interface SqlType {
  kind: Kind;
  isNullable: boolean;
  /** The type name of an integer in responses. In the engines, all integers have 64 bits. */
  integer?: 'UInt8' | 'UInt32' | 'UInt64' | 'Int64';
  /** The time zone for showing a time and for dividing time into days. */
  zone?: string;
  /** Whether a time is shown with fractions of a second. */
  hasFraction?: boolean;
  element?: SqlType;
  parts?: readonly SqlType[];
  unit?: TimeUnit;
}

export const timeUnits = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type TimeUnit = (typeof timeUnits)[number];

const plain = (kind: Kind) => ({ kind, isNullable: false }) as const;
export const text: SqlType = plain('text');
export const float: SqlType = plain('float');
export const flag: SqlType = plain('flag');
export const bool: SqlType = plain('bool');
export const date: SqlType = plain('date');
export const uuid: SqlType = plain('uuid');
export const int = (integer: NonNullable<SqlType['integer']> = 'Int64'): SqlType => ({ ...plain('int'), integer });
export const time = (zone: string, hasFraction = true): SqlType => ({ ...plain('time'), zone, hasFraction });
export const arrayOf = (element: SqlType): SqlType => ({ ...plain('array'), element });
export const tupleOf = (parts: readonly SqlType[]): SqlType => ({ ...plain('tuple'), parts });
export const interval = (unit: TimeUnit): SqlType => ({ ...plain('interval'), unit });
export const nothing: SqlType = { kind: 'nothing', isNullable: true };

/** Makes a type nullable. Lists and tuples are returned unchanged, because they are never nullable in ClickHouse. */
export function nullable(type: SqlType, isNullable = true): SqlType {
  return type.kind === 'array' || type.kind === 'tuple' ? type : { ...type, isNullable };
}

export const isNumber = ({ kind }: SqlType) => kind === 'int' || kind === 'float' || kind === 'flag';
export const isMoment = ({ kind }: SqlType) => kind === 'date' || kind === 'time';

/** Returns the type that includes the values of all given types, or null if no type does. */
export function commonType(types: readonly SqlType[]): SqlType | null {
  let common: SqlType = nothing;
  for (const type of types) {
    const next = commonOfTwo(common, type);
    if (next === null) return null;
    common = next;
  }
  const isNullable = types.some((type) => type.isNullable);
  return nullable(common, isNullable || common.kind === 'nothing');
}

function commonOfTwo(a: SqlType, b: SqlType): SqlType | null {
  if (a.kind === 'nothing') return b;
  if (b.kind === 'nothing') return a;
  if (a.kind === 'array' && b.kind === 'array') {
    const element = commonType([a.element ?? nothing, b.element ?? nothing]);
    return element === null ? null : arrayOf(element);
  }
  if (a.kind === 'tuple' || b.kind === 'tuple') {
    if (a.parts?.length !== b.parts?.length) return null;
    const parts = (a.parts ?? []).map((part, at) => commonType([part, b.parts?.[at] ?? nothing]));
    return parts.some((part) => part === null) ? null : tupleOf(parts as SqlType[]);
  }
  if (a.kind === b.kind) {
    if (a.kind === 'int') return widerInteger(a, b);
    if (a.kind === 'time') return { ...a, hasFraction: a.hasFraction === true || b.hasFraction === true };
    return a;
  }
  const kinds = new Set([a.kind, b.kind]);
  const isOf = (...allowed: Kind[]) => [...kinds].every((kind) => allowed.includes(kind));
  if (isOf('int', 'flag')) return a.kind === 'int' ? a : b;
  if (isOf('int', 'float', 'flag')) return float;
  if (isOf('date', 'time')) return a.kind === 'time' ? a : b;
  if (isOf('bool', 'flag')) return bool;
  if (isOf('text', 'json')) return text;
  return null;
}

const widths = ['UInt8', 'UInt32', 'UInt64', 'Int64'] as const;

function widerInteger(a: SqlType, b: SqlType): SqlType {
  const place = Math.max(widths.indexOf(a.integer ?? 'Int64'), widths.indexOf(b.integer ?? 'Int64'));
  return int(widths[place]);
}

/** Returns the name of a type in responses, which is its name in ClickHouse, as clients expect. */
export function typeName(type: SqlType): string {
  const name = bareName(type);
  return type.isNullable ? `Nullable(${name})` : name;
}

function bareName(type: SqlType): string {
  switch (type.kind) {
    case 'int':
      return type.integer ?? 'Int64';
    case 'float':
      return 'Float64';
    case 'text':
    case 'json':
      return 'String';
    case 'flag':
      return 'UInt8';
    case 'bool':
      return 'Bool';
    case 'date':
      return 'Date';
    case 'time':
      return type.hasFraction ? `DateTime64(6, '${type.zone}')` : `DateTime('${type.zone}')`;
    case 'uuid':
      return 'UUID';
    case 'array':
      return `Array(${typeName(type.element ?? nothing)})`;
    case 'tuple':
      return `Tuple(${(type.parts ?? []).map(typeName).join(', ')})`;
    case 'interval':
      return `Interval${type.unit}`;
    case 'nothing':
      return 'Nothing';
    default:
      return type.kind satisfies never;
  }
}

/** Returns the noun that error messages use for a type. */
export function describe(type: SqlType): string {
  const nouns: Record<Kind, string> = {
    int: 'a number',
    float: 'a number',
    flag: 'a condition',
    bool: 'a Boolean value',
    text: 'a text',
    date: 'a date',
    time: 'a time',
    uuid: 'a UUID',
    array: 'an array',
    tuple: 'a tuple',
    json: 'a JSON document',
    interval: 'an interval',
    nothing: 'NULL',
  };
  return nouns[type.kind];
}
