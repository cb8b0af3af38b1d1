import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { propertyOperators } from '@millrace/flags';
import type { CohortLeaf } from './cohort-tree.ts';

/** Names that scripts give operators, and the stored ones. */
const operatorAliases: Record<string, string> = { min: 'gte', max: 'lte' };
/** Whether the property is there is all they ask. */
const withoutValue = new Set(['is_set', 'is_not_set']);
const largestId = 2_147_483_647;

/** One filter. @throws AppError `invalid` with attr `filters`. */
export function parseLeaf(leaf: Record<string, unknown>): CohortLeaf {
  switch (leaf.type) {
    case 'person':
      return parsePersonLeaf(leaf);
    case 'cohort':
    case 'precalculated-cohort':
    case 'static-cohort':
      return parseCohortLeaf(leaf);
    case 'behavioral':
      requireKeys('behavioral', leaf, ['key', 'value', 'event_type']);
      return { ...leaf, type: 'behavioral' };
    default:
      throw leafError("The type of a filter must be 'person', 'cohort' or 'behavioral'.");
  }
}

function parsePersonLeaf(leaf: Record<string, unknown>): CohortLeaf {
  requireKeys('person', leaf, ['key', 'operator']);
  const operator = operatorAliases[String(leaf.operator)] ?? leaf.operator;
  if (!withoutValue.has(String(operator))) requireKeys('person', leaf, ['value']);
  if (typeof leaf.key !== 'string' || leaf.key === '') throw leafError('The key of a person filter must be a text.');
  if (!(propertyOperators as unknown[]).includes(operator)) {
    throw leafError(`A person filter has no operator '${String(leaf.operator).slice(0, 100)}'.`);
  }
  if (isObject(leaf.value)) throw leafError('The value of a person filter may not be a dictionary.');
  return { ...leaf, type: 'person', operator, ...negationOf(leaf) };
}

/** `exact` is how older clients say `in`; by any other name a cohort would have no members. */
function parseCohortLeaf(leaf: Record<string, unknown>): CohortLeaf {
  requireKeys('cohort', leaf, ['key', 'value']);
  const value = typeof leaf.value === 'string' && /^\d{1,10}$/.test(leaf.value) ? Number(leaf.value) : leaf.value;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > largestId) {
    throw leafError('Invalid Cohort ID in filter');
  }
  const { operator = 'in' } = leaf;
  const normal = operator === 'exact' || operator === null ? 'in' : operator;
  if (normal !== 'in' && normal !== 'not_in') {
    throw leafError(`A cohort filter has no operator '${String(operator).slice(0, 100)}'.`);
  }
  const usual = leaf.operator === undefined ? {} : { operator: normal };
  return { ...leaf, type: 'cohort', value, ...usual, ...negationOf(leaf) };
}

function negationOf({ negation }: Record<string, unknown>): { negation?: boolean } {
  if (negation === undefined || negation === null) return {};
  if (typeof negation !== 'boolean') throw leafError('The negation of a filter must be a boolean.');
  return { negation };
}

function requireKeys(kind: string, leaf: Record<string, unknown>, keys: string[]): void {
  const missing = keys.filter((key) => leaf[key] === undefined || leaf[key] === null);
  if (missing.length > 0) throw leafError(`Missing required keys for ${kind} filter: ${missing.join(', ')}`);
}

function leafError(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr: 'filters' });
}
