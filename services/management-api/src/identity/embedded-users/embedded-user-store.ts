/**
 * Returns an SQL expression that converts a row of "user" to an `EmbeddedUserRow`. The expression is null if an outer
 * join found no row, for example because the user was deleted.
 * @param alias the alias of the joined "user" table. Must not come from a request, because it becomes part of the SQL.
 */
export function embeddedUserColumn(alias: string): string {
  return `CASE WHEN ${alias}.id IS NULL THEN NULL ELSE jsonb_build_object(
    'id', ${alias}.id, 'uuid', ${alias}.uuid, 'distinct_id', ${alias}.distinct_id, 'first_name', ${alias}.first_name,
    'last_name', ${alias}.last_name, 'email', ${alias}.email, 'is_email_verified', ${alias}.is_email_verified,
    'hedgehog_config', coalesce(nullif(${alias}.hedgehog_config, 'null'::jsonb), '{}'::jsonb),
    'role_at_organization', ${alias}.role_at_organization) END`;
}
