import { Type } from 'typebox';

/** A report that was, is or will be sent, and what came of it. */
export const delivery = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'Id; webhooks get it as `delivery_id`, the same at every attempt.',
    }),
    occasion: Type.String({
      description: '`scheduled`, `created` (the subscription is new) or `target_changed` (the target is new).',
    }),
    due_at: Type.String({ format: 'date-time', description: 'When it was due.' }),
    target: Type.String({ description: 'Where to: one e-mail address, or the whole `target_value`.' }),
    status: Type.String({ description: '`pending`, `delivered`, `failed` (given up) or `cancelled`.' }),
    attempts: Type.Integer({ description: 'How often it was tried.' }),
    error: Type.Union([Type.String(), Type.Null()], { description: 'Why the last attempt failed.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was decided.' }),
    finished_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it was delivered or given up.',
    }),
  },
  { title: 'SubscriptionDelivery' },
);

export const deliveryExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000e1',
  occasion: 'scheduled',
  due_at: '2026-11-02T09:00:00Z',
  target: 'ada@example.com',
  status: 'failed',
  attempts: 1,
  error: 'The mail server refused the mail (550).',
  created_at: '2026-11-02T09:00:01Z',
  finished_at: '2026-11-02T09:00:02Z',
};
