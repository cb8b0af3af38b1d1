// Declares actions that PostHog clients call on projects and environments, and that have little or no effect in
// Millrace.

import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import type { AddressedRecord } from './show.ts';
import { upsertProductIntent } from './store.ts';

const isGenerating = Type.Object(
  { is_generating_demo_data: Type.Boolean({ description: 'Always false.' }) },
  { title: 'DemoData' },
);

export const demoDataStatus = {
  method: 'GET',
  path: '/is_generating_demo_data',
  operationId: 'is_generating_demo_data',
  summary: 'Show whether demo data is being generated',
  description: 'Always returns false: Millrace does not generate demo data.',
  scope: 'project:read',
  responses: { 200: { description: 'Whether demo data is being generated.', schema: isGenerating } },
  examples: { response: { is_generating_demo_data: false } },
  handler: async () => ({ is_generating_demo_data: false }),
} as const;

/** Body fields of a product intent request. Such a request can also contain settings. */
export const intent = {
  product_type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Product in which the user is interested, for example `surveys`. Required unless the request changes a setting.',
    }),
  ),
  intent_context: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Where in the product the user showed interest. Defaults to `unknown`.',
    }),
  ),
  metadata: Type.Optional(Type.Unknown({ description: 'Accepted, but not stored.' })),
};

/**
 * Records interest in a product, and changes the settings that the request contains.
 * @throws AppError `invalid` if the request contains neither a product nor a setting
 */
export async function recordProductIntent(
  tx: Transaction,
  { target, body }: AddressedRecord & { body: Record<string, unknown> },
  changeSettings: (settings: Record<string, unknown>) => Promise<void>,
): Promise<void> {
  const { product_type: productType, intent_context: context = 'unknown' } = body;
  const settings = Object.fromEntries(Object.entries(body).filter(([field]) => !Object.hasOwn(intent, field)));
  const hasSettings = Object.keys(settings).length > 0;
  if (productType === undefined && !hasSettings) {
    throw new AppError('invalid', 'This field is required.', { code: 'required', attr: 'product_type' });
  }
  if (hasSettings) await changeSettings(settings);
  if (productType === undefined) return;
  const named = { productType: String(productType), context: String(context) };
  await upsertProductIntent(tx, target.environmentId, named);
}
