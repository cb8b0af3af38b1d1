// The paths under which batch exports are addressed, and what their routes need.

import type { Database, Sql } from '@millrace/db';
import { type TObject, Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { parentEnvironment, projectParams } from '../../access/addressed-project.ts';
import type { Caller } from '../../access/caller.ts';
import type { DestinationSecrets } from './destinations.ts';
import type { ExportAddress } from './store.ts';

/** The paths under which exports are served (docs/api-rules.md#batch-exports). */
export type Family = 'environments' | 'projects' | 'organizations';

const id = Type.String({ format: 'uuid', description: 'Id of the export.' });
const part = (description: string) => Type.String({ description });

/** Path, parameters and target of a family's routes. */
export function exportAddress(family: Family, sql: Sql) {
  const isOrganization = family === 'organizations';
  const parent: TObject = isOrganization ? organizationParams : projectParams;
  return {
    path: `/api/${family}/${isOrganization ? ':organization_id' : ':project_id'}/batch_exports`,
    listParams: parent,
    params: Type.Object({ ...parent.properties, id }),
    runParams: Type.Object({
      ...parent.properties,
      id,
      run_id: Type.String({ format: 'uuid', description: 'Id of the run.' }),
    }),
    backfillParams: Type.Object({ ...parent.properties, id, backfill_id: part('Id of the backfill.') }),
    target: isOrganization ? ofOrganization(sql) : ofEnvironment(sql),
  };
}

type Context = { caller: Caller; params: unknown };

function ofOrganization(sql: Sql) {
  const address = addressedOrganization(sql);
  return async ({ caller, params }: Context): Promise<ExportAddress> => {
    const { organizationId } = await address({ caller, params: params as { organization_id: string } });
    return { userId: caller.userId, organizationId, environmentId: null };
  };
}

function ofEnvironment(sql: Sql) {
  const address = parentEnvironment(sql);
  return async ({ caller, params }: Context): Promise<ExportAddress> => {
    const { organizationId, environmentId } = await address({ caller, params: params as { project_id: string } });
    return { userId: caller.userId, organizationId, environmentId };
  };
}

/** What the routes of batch exports need. */
export interface BatchExportDeps extends Pick<Database, 'sql' | 'transaction'> {
  destinationSecrets: DestinationSecrets;
}
