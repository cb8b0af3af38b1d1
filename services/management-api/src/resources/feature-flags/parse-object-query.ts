import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';

/** The query parameter `groups`: a JSON object of group keys by the names of their types. @throws AppError `invalid`. */
export function parseGroups(text: string | undefined): Record<string, unknown> {
  return parseObject(text, 'groups', 'group keys by the names of their types: {"company": "acme"}');
}

/** The query parameter `person_properties`. @throws AppError `invalid`. */
export function parsePersonProperties(text: string | undefined): Record<string, unknown> {
  return parseObject(text, 'person_properties', 'properties by their names: {"plan": "free"}');
}

function parseObject(text: string | undefined, attr: string, what: string): Record<string, unknown> {
  if (text === undefined || text === '') return {};
  const object = parsed(text);
  if (isObject(object)) return object;
  throw new AppError('invalid', `Expected a JSON object of ${what}.`, { code: 'invalid_input', attr });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
