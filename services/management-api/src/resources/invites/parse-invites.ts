import { AppError, isAppError } from '@millrace/errors';
import { parseInput } from '@millrace/http';
import { type InviteBody, newInvite } from './invite-schema.ts';

const maxInvites = 20;

/**
 * The body of a bulk request: a list of up to 20 invites, or one invite.
 * @throws AppError `invalid`; in a list the field is named `<index>__<field>`.
 */
export function parseInvites(body: unknown): InviteBody[] {
  if (!Array.isArray(body)) {
    if (typeof body === 'object' && body !== null) return [parseInput(newInvite, body, { trimStrings: true })];
    throw new AppError('invalid', 'This endpoint needs an array of data for bulk invite creation.', {
      code: 'invalid_input',
    });
  }
  if (body.length > maxInvites) {
    throw new AppError('invalid', `A maximum of ${maxInvites} invites can be sent in a single request.`, {
      code: 'max_length',
    });
  }
  return body.map((item, index) => {
    try {
      return parseInput(newInvite, item, { trimStrings: true });
    } catch (error) {
      throw ofElement(index, error);
    }
  });
}

/**
 * The error of one element of a list, with its place in front of the field; an error of another kind as it is.
 * @param otherwise the field to blame when the error names none.
 */
export function ofElement(index: number, error: unknown, otherwise?: string): unknown {
  if (!isAppError(error, 'invalid')) return error;
  return new AppError('invalid', error.message, {
    code: error.code,
    attr: [index, error.attr ?? otherwise].filter((part) => part !== undefined).join('__'),
    cause: error,
  });
}
