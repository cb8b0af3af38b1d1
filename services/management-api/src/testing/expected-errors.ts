/** Returns the expected response for a validation error (400). */
export const validationError = (code: string, attr: string | null, detail: unknown) => ({
  status: 400,
  body: { type: 'validation_error', code, detail, attr },
});

/** Returns the expected response for denied permission (403). */
export const permissionDenied = (detail = 'You do not have permission to perform this action.') => ({
  status: 403,
  body: { type: 'authentication_error', code: 'permission_denied', detail, attr: null },
});

/** Returns the expected response for a missing record (404). */
export const notFound = (detail = 'Not found.') => ({
  status: 404,
  body: { type: 'invalid_request', code: 'not_found', detail, attr: null },
});

export const insufficient = permissionDenied('Your organization access level is insufficient.');
