import type { Sql } from '@millrace/db';

/** Notes what somebody wants to use; again means one more time (docs/api-rules.md#product-intents). */
export async function upsertProductIntent(
  sql: Sql,
  environmentId: number,
  { productType, context }: { productType: string; context: string },
): Promise<void> {
  await sql.query(
    `INSERT INTO product_intent AS i (environment_id, product_type, contexts)
     VALUES ($1, $2, jsonb_build_object($3::text, 1))
     ON CONFLICT (environment_id, product_type) DO UPDATE
        SET contexts = i.contexts || jsonb_build_object($3::text, coalesce((i.contexts ->> $3::text)::int, 0) + 1),
            updated_at = clock_timestamp()`,
    [environmentId, productType, context],
  );
}
