import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';

/** The query parameter `groups`: a JSON object of group keys by the names of their types. @throws AppError `invalid`. */
export function parseGroups(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text === '') return {};
  const groups = parsed(text);
  if (isObject(groups)) return groups;
  const detail = 'Expected a JSON object of group keys by the names of their types: {"company": "acme"}.';
  throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'groups' });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
