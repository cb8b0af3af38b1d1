import { isObject } from '@millrace/contracts';
import { filterProblem } from './filter-problem.ts';
import type { FlagVariant } from './flag-filters.ts';

/** Payloads as JSON text; null takes one away. @throws AppError `invalid`. */
export function parsePayloads(
  payloads: unknown,
  { variants, holdout }: { variants: readonly FlagVariant[]; holdout: unknown },
): Record<string, string> {
  if (payloads === null) return {};
  if (!isObject(payloads)) throw filterProblem('Payloads must be passed as a dictionary');
  const given = Object.entries(payloads).filter(([, payload]) => payload !== null);
  const keys = new Set(variants.length > 0 ? variants.map(({ key }) => key) : ['true']);
  // Who is held out gets a variant that is not declared.
  if (isObject(holdout)) keys.add(`holdout-${String(holdout.id)}`);
  if (given.some(([key]) => !keys.has(key))) {
    throw filterProblem(
      variants.length > 0
        ? 'Payload keys must match a variant key for multivariate flags'
        : "Payload keys must be 'true' for boolean flags",
    );
  }
  return Object.fromEntries(given.map(([key, payload]) => [key, jsonText(payload)]));
}

function jsonText(payload: unknown): string {
  if (typeof payload !== 'string') return JSON.stringify(payload);
  try {
    JSON.parse(payload);
  } catch {
    throw filterProblem('Payload value is not valid JSON.');
  }
  return payload;
}
