// Who may see and change kinds of records, and single ones (docs/api-rules.md#access-to-records).

import { changeRecordRule, recordAccessLevels } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database, Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { belowEnvironment, hideMissing } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { defineRoutes } from '../../access/define-route.ts';
import {
  findRecord,
  type GovernedKind,
  governedKinds,
  kindsOfRecords,
  levelOnKind,
  levelOnRecord,
  mayDo,
  requireRecord,
} from '../../access/record-rights.ts';
import { accessRule, readRule, ruleExample, ruleNow, ruleWhom, toAccessRule } from '../environments/access-controls.ts';
import { listAccessRules } from '../environments/store.ts';

/** Kinds of which nothing is kept here. Scripts have rules for them: they are kept and decide nothing. */
const kindsWithoutRecords = [
  'action',
  'alert',
  'annotation',
  'experiment',
  'notebook',
  'plugin',
  'session_recording',
  'survey',
  'web_analytics',
] as const;

const access_level = Type.Unknown({
  description: '`none`, `viewer`, `editor`, `manager`, or null to remove the rule.',
});

const kindRuleChange = Type.Object(
  {
    access_level,
    resource: Type.Enum([...kindsOfRecords, ...kindsWithoutRecords], { description: 'Kind of record.' }),
    resource_id: Type.Optional(Type.Null({ description: 'Rules for one record are set below it.' })),
    ...ruleWhom,
  },
  { title: 'RecordKindRuleChange' },
);
const recordRuleChange = Type.Object({ access_level, ...ruleWhom }, { title: 'RecordRuleChange' });

const levels = Type.Array(Type.String(), { description: 'What a rule may say, the least first.' });
const mayEdit = Type.Boolean({ description: 'Whether the caller may change the rules.' });
const recordRules = Type.Object(
  {
    access_controls: Type.Array(accessRule, {
      description: 'The rules, of each kind that for everybody in front of those for members and roles.',
    }),
    available_access_levels: levels,
    default_access_level: Type.String({ description: 'What members may do where no rule says anything.' }),
    user_access_level: Type.Union([Type.String(), Type.Null()], {
      description: 'What the caller may do with the record; null for kinds.',
    }),
    user_can_edit_access_levels: mayEdit,
  },
  { title: 'RecordAccessRules' },
);

const example = { ...ruleExample, access_level: 'viewer', resource: 'dashboard', resource_id: null };
const common = { tags: ['access rules'] as [string] };
const byDefault = 'editor';

export function recordRuleRoutes(database: Pick<Database, 'sql' | 'transaction'>) {
  return [...kindRoutes(database), ...kindsOfRecords.flatMap((kind) => routesOfKind(database, kind))];
}

function kindRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const at = { ...common, below: belowEnvironment(sql), path: '/resource_access_controls' } as const;
  return [
    ...defineRoutes({
      ...at,
      method: 'GET',
      operationId: 'resource_access_controls',
      summary: 'Show who may use which kinds of records',
      description: 'The rules for all records of a kind, for everybody, members and roles.',
      scope: 'access_control:read',
      responses: { 200: { description: 'The rules.', schema: recordRules } },
      examples: { response: shownRules([example], { level: null, mayChange: true }) },
      handler: async ({ target: { environmentId, level } }) => {
        const rules = await listAccessRules(sql, environmentId, { resource: null, resourceId: null });
        const mayChange = level >= membershipLevels.administrator;
        return shownRules(rules.map(toAccessRule), { level: null, mayChange });
      },
    }),
    ...defineRoutes({
      ...at,
      method: 'PUT',
      operationId: 'resource_access_controls_update',
      summary: 'Say who may use a kind of records',
      description:
        'Sets the rule for everybody, for one member or for a role. Rules count where the plan has project permissions. Administrators of the project may do everything, and who made a record keeps it.',
      scope: 'access_control:write',
      body: kindRuleChange,
      responses: { 200: { description: 'The rule as it is now.', schema: accessRule } },
      examples: {
        request: { access_level: 'viewer', resource: 'dashboard', organization_member: example.organization_member },
        response: example,
      },
      target: async ({ found }) => {
        if (found.level < membershipLevels.administrator)
          throw new AppError('forbidden', 'Must be admin to modify project permissions.');
        return found;
      },
      handler: async ({ caller, target: { environmentId }, body }) => {
        const { resource } = body;
        const place = { environmentId, resource, resourceId: null };
        const rule = readRule(body, recordAccessLevels);
        await hideMissing(() => transaction((tx) => changeRecordRule(tx, { ...place, ...rule, actor: caller })));
        const rules = await listAccessRules(sql, environmentId, place);
        return ruleNow(rules.map(toAccessRule), rule, { resource });
      },
    }),
  ];
}

function routesOfKind({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>, kind: GovernedKind) {
  const { path } = governedKinds[kind];
  const named = kind.replaceAll('_', ' ');
  const article = /^[aeiou]/.test(named) ? 'an' : 'a';
  const at = {
    ...common,
    below: belowEnvironment(sql),
    path: `/${path}/:id/access_controls`,
    params: Type.Object({ id: Type.String({ description: `Id of the ${named}.` }) }),
  } as const;
  const ofKind = { ...example, resource: kind, resource_id: '7' };
  return [
    ...defineRoutes({
      ...at,
      method: 'GET',
      operationId: `${path}_access_controls`,
      summary: `Show who may use ${article} ${named}`,
      description: `The rules for this one; where there are none for somebody, those for all of the kind count.`,
      scope: 'access_control:read',
      responses: { 200: { description: 'The rules.', schema: recordRules } },
      examples: { response: shownRules([ofKind], { level: 'manager', mayChange: true }) },
      target: ({ found, params: { id } }) => recordOf(sql, found, { kind, id }),
      handler: async ({ target: { environmentId, rights, record } }) => {
        const place = { resource: kind, resourceId: String(record.id) };
        const rules = await listAccessRules(sql, environmentId, place);
        return {
          ...shownRules(rules.map(toAccessRule), {
            level: levelOnRecord(rights, kind, record),
            mayChange: mayDo(rights, kind, 'manager', record),
          }),
          default_access_level: rights.rules === null ? byDefault : levelOnKind(rights, kind),
        };
      },
    }),
    ...defineRoutes({
      ...at,
      method: 'PUT',
      operationId: `${path}_access_controls_update`,
      summary: `Say who may use ${article} ${named}`,
      description:
        'Sets the rule for everybody, for one member or for a role. By administrators of the project, by who made it, and by who is its manager.',
      scope: 'access_control:write',
      body: recordRuleChange,
      responses: { 200: { description: 'The rule as it is now.', schema: accessRule } },
      examples: {
        request: { access_level: 'viewer', organization_member: ofKind.organization_member },
        response: ofKind,
      },
      target: async ({ found, params: { id } }) => {
        const target = await recordOf(sql, found, { kind, id });
        requireRecord(target.rights, kind, 'manager', target.record);
        return target;
      },
      handler: async ({ caller, target: { environmentId, record }, body }) => {
        const place = { environmentId, resource: kind, resourceId: String(record.id) };
        const rule = readRule(body, recordAccessLevels);
        await hideMissing(() => transaction((tx) => changeRecordRule(tx, { ...place, ...rule, actor: caller })));
        const rules = await listAccessRules(sql, environmentId, place);
        return ruleNow(rules.map(toAccessRule), rule, { resource: kind, resource_id: place.resourceId });
      },
    }),
  ];
}

/** @throws AppError `not_found` or `forbidden`. */
async function recordOf(sql: Sql, found: AddressedProject, { kind, id }: { kind: GovernedKind; id: string }) {
  const record = await findRecord(sql, found.environmentId, { kind, id });
  if (!record) throw new AppError('not_found', 'Not found.');
  requireRecord(found.rights, kind, 'viewer', record);
  return { ...found, record };
}

function shownRules<Rule>(rules: Rule[], { level, mayChange }: { level: string | null; mayChange: boolean }) {
  return {
    access_controls: rules,
    available_access_levels: [...recordAccessLevels],
    default_access_level: byDefault as string,
    user_access_level: level,
    user_can_edit_access_levels: mayChange,
  };
}
