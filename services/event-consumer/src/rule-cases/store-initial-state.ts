import type { Database } from '@millrace/db';
import { derivePersonUuid } from '../rules/persons.ts';
import { eventTime, type InitialState } from './rule-world.ts';

export async function storeInitialState({ prisma }: Database, projectId: number, start: InitialState): Promise<void> {
  const { anonymizeIps = false, personProcessingOptOut = false } = start.project ?? {};
  await prisma.environment.update({
    where: { id: projectId },
    data: { anonymize_ips: anonymizeIps, person_processing_opt_out: personProcessingOptOut },
  });
  for (const stored of start.persons ?? []) {
    const mainDistinctId = stored.ids[0] ?? '';
    const uuid = derivePersonUuid(projectId, stored.uuidOf ?? mainDistinctId);
    await prisma.person.create({
      data: {
        project_id: projectId,
        uuid,
        main_distinct_id: mainDistinctId,
        properties: stored.properties as object | undefined,
        is_identified: stored.isIdentified,
        version: stored.version,
        created_at: stored.createdAt ?? '2026-01-01T00:00:00.000Z',
      },
    });
    for (const distinct_id of stored.ids) {
      await prisma.person_distinct_id.create({ data: { project_id: projectId, distinct_id, person_uuid: uuid } });
    }
  }
  for (const [group_type_index, group_type] of (start.groupTypes ?? []).entries()) {
    const created_at = new Date(0);
    await prisma.group_type_mapping.create({
      data: { project_id: projectId, group_type, group_type_index, created_at },
    });
  }
  for (const { index, key, properties = {}, version = 1, createdAt = eventTime } of start.groups ?? []) {
    await prisma.group.create({
      data: {
        project_id: projectId,
        group_type_index: index,
        group_key: key,
        group_properties: properties as object,
        version,
        created_at: createdAt,
      },
    });
  }
}
