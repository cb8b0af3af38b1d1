import type { Sql } from '@millrace/db';

export interface StoredPerson {
  uuid: string;
  main_distinct_id: string;
  properties: Record<string, unknown>;
  static_cohort_ids: number[];
  /** The ids that buckets of flags are made of, by key of the flag. */
  hash_keys: Record<string, string>;
}

/** Whatever persons hold, a page in memory is not much larger. */
const maxBytes = 2 * 1024 * 1024;

/**
 * Some persons of a project by uuid, those after `after`. A page ends early, with the person that fills it; only an empty
 * page is the last.
 */
export async function readPersonPage(
  sql: Sql,
  projectId: number,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredPerson[]> {
  return sql.query<StoredPerson & Record<string, unknown>>(
    `SELECT page.uuid, page.main_distinct_id, page.properties,
            ARRAY(SELECT m.cohort_id FROM cohort_member m
                   WHERE m.project_id = $1 AND m.person_uuid = page.uuid) AS static_cohort_ids,
            (SELECT coalesce(jsonb_object_agg(h.flag_key, h.hash_key), '{}') FROM feature_flag_hash_key h
              WHERE h.project_id = $1 AND h.person_uuid = page.uuid) AS hash_keys
       FROM (SELECT p.uuid, p.main_distinct_id, p.properties, p.bytes,
                    sum(p.bytes) OVER (ORDER BY p.uuid ROWS UNBOUNDED PRECEDING) AS running
               FROM (SELECT uuid, main_distinct_id, properties,
                            CASE WHEN pg_column_compression(properties) IS NULL THEN pg_column_size(properties)
                                 ELSE octet_length(properties::text) END AS bytes
                       FROM person
                      WHERE project_id = $1 AND uuid > $2::uuid
                      ORDER BY uuid LIMIT $3) AS p) AS page
      WHERE page.running - page.bytes < ${maxBytes}
      ORDER BY page.uuid`,
    [projectId, after ?? '00000000-0000-0000-0000-000000000000', limit],
  );
}
