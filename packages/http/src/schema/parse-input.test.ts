import { isAppError } from '@millrace/runtime';
import { type TSchema, Type } from 'typebox';
import { parseInput } from './parse-input.ts';

const parse = (schema: TSchema, value: unknown) =>
  parseInput(Type.Object({ f: schema }), { f: value }, { trimStrings: true }) as { f: unknown };

function refusal(schema: TSchema, value: unknown) {
  try {
    parse(schema, value);
    return null;
  } catch (error) {
    return isAppError(error, 'invalid') ? { code: error.code, detail: error.message, attr: error.attr } : error;
  }
}

const text = Type.String({ minLength: 1, maxLength: 3 });
const number = Type.Integer({ minimum: 1, maximum: 9 });
const choice = Type.Enum([1, 8, 15]);
const time = Type.String({ format: 'date-time' });

describe('lenient conversion of request values', () => {
  test.each<[TSchema, unknown, unknown]>([
    [text, 5, '5'],
    [text, '  ab ', 'ab'],
    [text, '\u{1F600}\u{1F600}\u{1F600}', '\u{1F600}\u{1F600}\u{1F600}'],
    [number, '8', 8],
    [number, ' 8.0 ', 8],
    [number, 1.0, 1],
    [Type.Boolean(), 'YES', true],
    [Type.Boolean(), 't', true],
    [Type.Boolean(), 0, false],
    [Type.Boolean(), 'Off', false],
    [choice, '8', 8],
    [Type.Union([choice, Type.Null()]), null, null],
    [Type.Union([text, Type.Null()]), ' a ', 'a'],
    [time, '2022-01-01', '2022-01-01T00:00:00.000Z'],
    [time, '2022-01-01T10:00', '2022-01-01T10:00:00.000Z'],
    [Type.Array(number), ['1', 2], [1, 2]],
    [Type.Unknown(), { a: [null] }, { a: [null] }],
  ])('%#: converts %j', (schema, given, understood) => {
    expect(parse(schema, given)).toEqual({ f: understood });
  });
});

describe('validation errors', () => {
  test.each<[string, TSchema, unknown, string, string]>([
    ['missing', text, undefined, 'required', 'This field is required.'],
    ['null', text, null, 'null', 'This field may not be null.'],
    ['blank', text, '', 'blank', 'This field may not be blank.'],
    ['blank after trimming', text, '   ', 'blank', 'This field may not be blank.'],
    ['not a string', text, true, 'invalid_input', 'Not a valid string.'],
    ['not a string', text, ['a'], 'invalid_input', 'Not a valid string.'],
    ['too long', text, 'abcd', 'max_length', 'Ensure this field has no more than 3 characters.'],
    ['e-mail', Type.String({ format: 'email' }), 'x@', 'invalid_input', 'Enter a valid email address.'],
    ['uuid', Type.String({ format: 'uuid' }), 'x', 'invalid_input', 'Must be a valid UUID.'],
    ['boolean', Type.Boolean(), 'maybe', 'invalid_input', 'Must be a valid boolean.'],
    ['boolean in a list', Type.Boolean(), ['true'], 'invalid_input', 'Must be a valid boolean.'],
    ['integer', number, '1.5', 'invalid_input', 'A valid integer is required.'],
    ['integer', number, true, 'invalid_input', 'A valid integer is required.'],
    ['too small', number, 0, 'min_value', 'Ensure this value is greater than or equal to 1.'],
    ['too large', number, '10', 'max_value', 'Ensure this value is less than or equal to 9.'],
    ['choice', choice, '7', 'invalid_choice', '"7" is not a valid choice. Choose one of: 1, 8, 15.'],
    ['choice', choice, true, 'invalid_choice', '"true" is not a valid choice. Choose one of: 1, 8, 15.'],
    ['list', Type.Array(text), 'a', 'not_a_list', 'Expected a list of items but got type "str". Send a JSON array.'],
    [
      'list',
      Type.Array(text),
      { a: 1 },
      'not_a_list',
      'Expected a list of items but got type "dict". Send a JSON array.',
    ],
    [
      'time',
      time,
      20220101,
      'invalid_input',
      expect.stringMatching(/^Datetime has wrong format\./) as unknown as string,
    ],
    ['time', time, '2022-02-30', 'invalid_input', expect.stringMatching(/^Datetime/) as unknown as string],
  ])('%s %#', (_case, schema, value, code, detail) => {
    expect(refusal(schema, value)).toEqual({ code, detail, attr: 'f' });
  });

  test('joins nested field names with two underscores in errors', () => {
    expect(refusal(Type.Array(text), ['a', 'b', ''])).toMatchObject({ code: 'blank', attr: 'f__2' });
    const nested = Type.Object({ type: text, to: Type.Optional(Type.Object({ id: number })) });
    expect(refusal(nested, { type: 'a', to: { id: 0 } })).toMatchObject({ code: 'min_value', attr: 'f__to__id' });
    expect(refusal(nested, {})).toMatchObject({ code: 'required', attr: 'f__type' });
  });

  test('request-014: names the first invalid field in schema order, regardless of the order in the request', () => {
    const schema = Type.Object({ a: number, b: number, c: text });
    const attrOf = (value: unknown) => {
      try {
        parseInput(schema, value, { trimStrings: true });
      } catch (error) {
        return isAppError(error) ? error.attr : error;
      }
    };
    expect(attrOf({ c: '', b: 0, a: 1 })).toBe('b');
    expect(attrOf({ c: '', b: 1 })).toBe('a');
  });

  test('truncates a long invalid value in the error message', () => {
    expect((refusal(choice, 'x'.repeat(10_000)) as { detail: string }).detail.length).toBeLessThan(200);
  });
});
