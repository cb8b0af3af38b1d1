/** Expects 400 for a wrong value. */
export const VE = (code: string, attr: string | null, detail: unknown) => ({
  status: 400,
  body: { type: 'validation_error', code, detail, attr },
});

/** Expects 403. */
export const PD = (detail = 'You do not have permission to perform this action.') => ({
  status: 403,
  body: { type: 'authentication_error', code: 'permission_denied', detail, attr: null },
});

/** Expects 404. */
export const NF = (detail = 'Not found.') => ({
  status: 404,
  body: { type: 'invalid_request', code: 'not_found', detail, attr: null },
});

export const insufficient = PD('Your organization access level is insufficient.');
