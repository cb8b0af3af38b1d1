// A tagged template for SQL with typed values. Each engine renders the SQL with its own placeholders.

/** A value's type, which determines how the engine binds the value. Times are milliseconds since the epoch. */
export type ValueType =
  | 'text'
  | 'texts'
  | 'int'
  | 'ints'
  | 'long'
  | 'float'
  | 'floats'
  | 'time'
  | 'times'
  | 'date'
  | 'uuid'
  | 'uuids';

export interface Value {
  type: ValueType;
  value: unknown;
}

/** A piece of SQL. Only the function `sql` can create fragments, so that user input never becomes SQL text. */
export class Fragment {
  readonly parts: readonly (string | Value)[];

  private constructor(parts: readonly (string | Value)[]) {
    this.parts = parts;
  }

  static of(strings: readonly string[], slots: readonly (Fragment | Value)[]): Fragment {
    const parts: (string | Value)[] = [];
    strings.forEach((text, at) => {
      parts.push(text);
      const slot = slots[at];
      if (slot instanceof Fragment) parts.push(...slot.parts);
      else if (slot !== undefined) parts.push(slot);
    });
    return new Fragment(parts);
  }
}

type Separator = ', ' | ' AND ' | ' OR ' | ' ' | ' UNION ALL ' | ' || ' | ' + ';

/** Creates a fragment. Slots accept only fragments and typed values, so the compiler rejects a plain string. */
export function sql(strings: TemplateStringsArray, ...slots: (Fragment | Value)[]): Fragment {
  return Fragment.of(strings, slots);
}

sql.join = (pieces: readonly Fragment[], separator: Separator): Fragment =>
  Fragment.of(['', ...pieces.slice(1).map(() => separator), ''].slice(0, pieces.length + 1), pieces);
/** Creates numbered column names such as `b1` and `b2`. */
sql.numbered = (name: 'a' | 'b' | 'c' | 'd' | 'f' | 'g' | 'p' | 'r' | 's' | 't', position: number): Fragment =>
  Fragment.of([`${name}${Math.trunc(position)}`], []);
/**
 * Inserts a number into the SQL text, for places where an engine does not accept a bound value, such as parameters of
 * aggregates and bounds of windows.
 */
sql.literal = (value: number): Fragment => Fragment.of([String(Number(value))], []);
sql.text = (value: string): Value => ({ type: 'text', value });
sql.texts = (value: readonly string[]): Value => ({ type: 'texts', value });
sql.int = (value: number): Value => ({ type: 'int', value });
/** Binds an integer of up to 64 bits, given as decimal digits. */
sql.long = (value: string): Value => ({ type: 'long', value });
sql.ints = (value: readonly number[]): Value => ({ type: 'ints', value });
sql.float = (value: number): Value => ({ type: 'float', value });
sql.floats = (value: readonly number[]): Value => ({ type: 'floats', value });
sql.time = (value: number): Value => ({ type: 'time', value });
sql.times = (value: readonly (number | null)[]): Value => ({ type: 'times', value });
/** Binds a date in the format `YYYY-MM-DD`. */
sql.date = (value: string): Value => ({ type: 'date', value });
sql.uuid = (value: string): Value => ({ type: 'uuid', value });
sql.uuids = (value: readonly string[]): Value => ({ type: 'uuids', value });

/**
 * Renders a fragment with placeholders. A value that is used several times has only one placeholder, so that PostgreSQL
 * recognizes equal expressions in SELECT and GROUP BY.
 * @param placeholder a function that returns the placeholder for the value at a position, counted from 1
 */
export function renderFragment(
  { parts }: Fragment,
  placeholder: (value: Value, position: number) => string,
): { text: string; values: Value[] } {
  const values: Value[] = [];
  const positions = new Map<Value, number>();
  const text = parts.map((part) => {
    if (typeof part === 'string') return part;
    const known = positions.get(part);
    if (known !== undefined) return placeholder(part, known);
    values.push(part);
    positions.set(part, values.length);
    return placeholder(part, values.length);
  });
  return { text: text.join(''), values };
}
