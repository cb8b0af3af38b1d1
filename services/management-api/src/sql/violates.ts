/** Returns true if a statement failed because of this unique or foreign key constraint. */
export function violatesConstraint(error: unknown, constraint: string): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, constraint: broken } = error as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && broken === constraint;
}
