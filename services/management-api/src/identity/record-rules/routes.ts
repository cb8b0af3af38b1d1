// Declares the routes for the access rules of record kinds and single records (docs/api/access.md#access-to-records).

import { changeRecordRule, recordAccessLevels } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database, Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths, maskNotFound } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { defineRoutes } from '../../access/define-route.ts';
import {
  findKindLevel,
  findRecord,
  findRecordLevel,
  type GovernedKind,
  governedKindNames,
  governedKinds,
  hasRecordLevel,
  requireRecord,
} from '../../access/record-rights.ts';
import {
  accessRule,
  parseAccessRuleChange,
  ruleExample,
  ruleTarget,
  toAccessRule,
  toRuleChangeResponse,
} from '../environments/access-controls.ts';
import { listAccessRules } from '../environments/store.ts';

/**
 * Record kinds that Millrace does not have. PostHog clients set rules for them, so Millrace stores these rules without
 * effect.
 */
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
  description: 'Access level that the rule grants: `none`, `viewer`, `editor` or `manager`. Null removes the rule.',
});

const kindRuleChange = Type.Object(
  {
    access_level,
    resource: Type.Enum([...governedKindNames, ...kindsWithoutRecords], {
      description: 'Record type that the rule applies to.',
    }),
    resource_id: Type.Optional(
      Type.Null({
        description:
          "Must be null or absent. To set a rule for a single record, use `access_controls` under the record's path.",
      }),
    ),
    ...ruleTarget,
  },
  { title: 'RecordKindRuleChange' },
);
const recordRuleChange = Type.Object({ access_level, ...ruleTarget }, { title: 'RecordRuleChange' });

const levels = Type.Array(Type.String(), { description: 'Access levels that a rule can grant, lowest first.' });
const mayEdit = Type.Boolean({ description: 'Whether the caller can change the rules.' });
const recordRules = Type.Object(
  {
    access_controls: Type.Array(accessRule, {
      description:
        'Access rules. For each record type, the rule for everyone comes first, followed by the rules for members ' +
        'and ' +
        'roles.',
    }),
    available_access_levels: levels,
    default_access_level: Type.String({ description: 'Access level of project members to whom no rule applies.' }),
    user_access_level: Type.Union([Type.String(), Type.Null()], {
      description: 'Access level of the caller. Null if the rules apply to a record type and not to a single record.',
    }),
    user_can_edit_access_levels: mayEdit,
  },
  { title: 'RecordAccessRules' },
);

const example = { ...ruleExample, access_level: 'viewer', resource: 'dashboard', resource_id: null };
const common = { tags: ['access rules'] as [string] };
const byDefault = 'editor';

export function recordRuleRoutes(database: Pick<Database, 'sql' | 'transaction'>) {
  return [...kindRoutes(database), ...governedKindNames.flatMap((kind) => routesOfKind(database, kind))];
}

function kindRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const at = { ...common, below: environmentBasePaths(sql), path: '/resource_access_controls' } as const;
  return [
    ...defineRoutes({
      ...at,
      method: 'GET',
      operationId: 'resource_access_controls',
      summary: 'List access rules for record types',
      description:
        'Returns the access rules that apply to all records of a type. Each rule applies to everyone, to one ' +
        'member or to one role.',
      scope: 'access_control:read',
      responses: { 200: { description: 'The access rules.', schema: recordRules } },
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
      summary: 'Set an access rule for a record type',
      description:
        'Sets the access rule for everyone, for one member or for a role. Only project administrators can do this. ' +
        "Rules take effect only if the organization's plan includes " +
        'project permissions. Project administrators always have full access to all records. The user who created a ' +
        'record always has full access to that record.',
      scope: 'access_control:write',
      body: kindRuleChange,
      responses: { 200: { description: 'The updated rule.', schema: accessRule } },
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
        const rule = parseAccessRuleChange(body, recordAccessLevels);
        await maskNotFound(() => transaction((tx) => changeRecordRule(tx, { ...place, ...rule, actor: caller })));
        const rules = await listAccessRules(sql, environmentId, place);
        return toRuleChangeResponse(rules.map(toAccessRule), rule, { resource });
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
    below: environmentBasePaths(sql),
    path: `/${path}/:id/access_controls`,
    params: Type.Object({ id: Type.String({ description: `ID of the ${named}.` }) }),
  } as const;
  const ofKind = { ...example, resource: kind, resource_id: '7' };
  return [
    ...defineRoutes({
      ...at,
      method: 'GET',
      operationId: `${path}_access_controls`,
      summary: `List access rules for ${article} ${named}`,
      description: `Returns the access rules for this ${named}. If none of these rules applies to a user, the rules for the record type apply.`,
      scope: 'access_control:read',
      responses: { 200: { description: 'The access rules.', schema: recordRules } },
      examples: { response: shownRules([ofKind], { level: 'manager', mayChange: true }) },
      target: ({ found, params: { id } }) => recordOf(sql, found, { kind, id }),
      handler: async ({ target: { environmentId, rights, record } }) => {
        const place = { resource: kind, resourceId: String(record.id) };
        const rules = await listAccessRules(sql, environmentId, place);
        return {
          ...shownRules(rules.map(toAccessRule), {
            level: findRecordLevel(rights, kind, record),
            mayChange: hasRecordLevel(rights, kind, 'manager', record),
          }),
          default_access_level: rights.rules === null ? byDefault : findKindLevel(rights, kind),
        };
      },
    }),
    ...defineRoutes({
      ...at,
      method: 'PUT',
      operationId: `${path}_access_controls_update`,
      summary: `Set an access rule for ${article} ${named}`,
      description:
        'Sets the access rule for everyone, for one member or for a role. This requires a project administrator, ' +
        'the user who created the record, or a user with the access level ' +
        '`manager` for the record.',
      scope: 'access_control:write',
      body: recordRuleChange,
      responses: { 200: { description: 'The updated rule.', schema: accessRule } },
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
        const rule = parseAccessRuleChange(body, recordAccessLevels);
        await maskNotFound(() => transaction((tx) => changeRecordRule(tx, { ...place, ...rule, actor: caller })));
        const rules = await listAccessRules(sql, environmentId, place);
        return toRuleChangeResponse(rules.map(toAccessRule), rule, { resource: kind, resource_id: place.resourceId });
      },
    }),
  ];
}

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
