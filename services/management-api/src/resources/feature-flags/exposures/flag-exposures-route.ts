import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { addressedProject } from '../../../access/addressed-project.ts';
import { defineRoute } from '../../../access/define-route.ts';
import { findTimeZone } from '../../../time/time-zone-store.ts';
import type { FlagDeps } from '../flag-deps.ts';
import { flagParams, flagsPath, flagTags as tags } from '../flag-params.ts';
import { findFlag } from '../flag-store.ts';
import { exposureRange, mostDays } from './exposure-range.ts';
import { exposuresAnswer, exposuresExample } from './exposure-schema.ts';
import { countExposures } from './exposure-store.ts';
import { toExposures } from './to-exposures.ts';

const mostExposures = 1_000_000;
const mostVariants = 50;

/** Who got which variant of a flag, as the events of SDKs tell, and what they did then. */
export function flagExposuresRoute({ sql }: Pick<FlagDeps, 'sql'>) {
  return defineRoute({
    method: 'GET',
    path: `${flagsPath}/:id/exposures`,
    operationId: 'feature_flags_exposures',
    summary: 'Count who was exposed to a feature flag',
    description: `Counts the \`$feature_flag_called\` events of a flag by variant and day, the persons behind them, and who of these did the conversion event afterwards. At most ${mostDays} days and ${mostExposures} calls.`,
    tags,
    scope: 'feature_flag:read',
    params: flagParams,
    query: Type.Object({
      date_from: Type.String({
        default: '-30d',
        description: 'A day in the time zone of the project, a time, or a time ago like `-7d`.',
      }),
      date_to: Type.Optional(
        Type.String({ description: 'The last day, counted in, or a time that is not; now by default.' }),
      ),
      conversion_event: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'Name of the event that counts as a success.' }),
      ),
    }),
    responses: { 200: { description: 'The counts.', schema: exposuresAnswer } },
    examples: { response: exposuresExample },
    target: addressedProject(sql),
    handler: async ({ target: { environmentId }, params: { id }, query }) => {
      const flag = await findFlag(sql, environmentId, id);
      if (!flag) throw new AppError('not_found', 'Not found.');
      const timeZone = await findTimeZone(sql, environmentId);
      const counted = {
        environmentId,
        flagKey: flag.key,
        timeZone,
        ...(await exposureRange(sql, query, timeZone)),
        conversionEvent: query.conversion_event ?? null,
        mostExposures,
        mostVariants,
      };
      const rows = await countExposures(sql, counted);
      if ((rows[0]?.exposures_read ?? 0) > mostExposures) {
        const detail = `The flag was called more than ${mostExposures} times. Ask for a shorter time.`;
        throw new AppError('invalid', detail, { code: 'too_many_exposures', attr: 'date_from' });
      }
      return toExposures(counted, rows);
    },
  });
}
