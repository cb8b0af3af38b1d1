const variants = `CASE WHEN jsonb_typeof(f.filters #> '{multivariate,variants}') = 'array'
                       THEN f.filters #> '{multivariate,variants}' ELSE '[]' END`;

/** One condition set lets everybody in, and gives all of them the same. */
const isRolledOut = `f.filters = '{}' OR EXISTS (
    SELECT 1 FROM jsonb_array_elements(
                    CASE WHEN jsonb_typeof(f.filters -> 'groups') = 'array' THEN f.filters -> 'groups' ELSE '[]' END) AS g
     WHERE coalesce(g -> 'rollout_percentage', 'null') IN ('100', 'null')
       AND coalesce(g -> 'properties', '[]') IN ('[]', 'null')
       AND (${variants} = '[]' OR ${variants} @> '[{"rollout_percentage": 100}]' OR coalesce(g ->> 'variant', '') <> ''))`;

/** SQL: whether flag `f` is active and of no use: nobody has asked for it for 30 days, or it has long been on for everybody. */
export const isStale = `(f.active AND NOT f.deleted AND (
  f.last_called_at < now() - interval '30 days'
  OR (f.last_called_at IS NULL AND f.created_at < now() - interval '30 days' AND (${isRolledOut}))))`;

/** SQL: whether flag `f` has variants. */
export const hasVariants = `(${variants} <> '[]')`;
